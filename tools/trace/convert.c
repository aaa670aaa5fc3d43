// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "convert.h"

#include "convert_v1.h"
#include "convert_v2.h"
#include "converter.h"
#include "read.h"
#include "tools.h"
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>

enum { MESSAGES_MAX = 10 };

struct conversion {
  struct converter converter;
  const char *path;
  unsigned messages; // number of violations; the first MESSAGES_MAX are printed
};

static void convert_event(void *context, const struct trace_event *event) {
  struct conversion *conversion = context;
  if (trace_is_v2(conversion->converter.trace))
    convert_v2_event(&conversion->converter, event);
  else
    convert_v1_event(&conversion->converter, event);
}

static void print_violation(void *context, enum trace_rule rule,
                            uint64_t offset, const char *text) {
  struct conversion *conversion = context;
  if (conversion->messages++ < MESSAGES_MAX)
    trace_say("%s: offset 0x%" PRIx64 ": %s [%s]", conversion->path, offset,
              text, trace_rule_name(rule));
}

uint64_t convert(const char *path, struct trace *trace, struct timeline *line) {
  struct conversion conversion = {.converter = {trace, line, NULL, NULL},
                                  .path = path};
  const struct trace_visitor visitor = {convert_event, print_violation,
                                        &conversion};
  uint64_t violations = trace_read(trace, &visitor);
  convert_v1_end(&conversion.converter);
  convert_v2_end(&conversion.converter);
  return violations;
}
