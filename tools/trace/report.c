// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports violations of the rules in rules.def.

#include "report.h"

#include "common/printable.h"
#include "event_types.h"
#include "read.h"
#include "trace_data.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *text;
} rules[] = {
#define TRACE_RULE(id, name, what) {name, what},
#include "rules.def"
#undef TRACE_RULE
};

const char *trace_rule_name(enum trace_rule rule) { return rules[rule].name; }

const char *trace_rule_text(enum trace_rule rule) { return rules[rule].text; }

void trace_print_violation(const char *path, enum trace_rule rule,
                           uint64_t offset, const char *text) {
  printable_put(stderr, path, strlen(path));
  fprintf(stderr, ": offset 0x%" PRIx64 ": ", offset);
  printable_put(stderr, text, strlen(text));
  fprintf(stderr, " [%s]\n", rules[rule].name);
}

void violate(struct trace *t, enum trace_rule rule, uint64_t offset,
             const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  t->violations++;
  t->visitor->violation(t->visitor->context, rule, offset, text);
}

const char *describe(const struct trace_event *ev) {
  static char buffers[4][256];
  static unsigned turn;
  char *text = buffers[turn++ % 4];
  size_t size = sizeof buffers[0];
  int n = snprintf(text, size, "%s(", event_type_name(ev->type));
  for (unsigned i = 0; i < ev->arg_count; i++)
    n += snprintf(text + n, size - n, "%s%" PRIu64, i ? ", " : "", ev->args[i]);
  n += snprintf(text + n, size - n, ")");
  if (ev->g && ev->g != TRACE_NONE)
    n += snprintf(text + n, size - n, " of G %" PRIu64, ev->g);
  if (ev->p != TRACE_NONE)
    n += snprintf(text + n, size - n, " on P %" PRIu64, ev->p);
  else if (ev->m != TRACE_NONE)
    n += snprintf(text + n, size - n, " on thread %" PRIu64, ev->m);
  snprintf(text + n, size - n, " at tick %" PRIu64, ev->ticks);
  return text;
}
