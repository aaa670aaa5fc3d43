// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof trace check checks whether a trace obeys the rules of rules.def. For an
// invalid trace, the tool prints the first violations. For a valid trace, the
// tool prints the number of events of each type.

#include "commands/options.h"
#include "common/plural.h"
#include "common/printable.h"
#include "event_types.h"
#include "open.h"
#include "read.h"
#include "report.h"
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TYPES = 256 };

struct check {
  const char *path;
  uint64_t printed, max;
  uint64_t counts[TYPES];
};

static void count_event(void *context, const struct trace_event *event) {
  struct check *check = context;
  check->counts[event->type]++;
}

static void print_violation(void *context, enum trace_rule rule,
                            uint64_t offset, const char *text) {
  struct check *check = context;
  if (check->max && check->printed == check->max)
    return;
  check->printed++;
  trace_print_violation(check->path, rule, offset, text);
}

static int check_file(const struct options *options, const char *path,
                      uint64_t max) {
  char error[256];
  struct trace *trace = trace_open(path, error, sizeof error);
  if (!trace)
    return complain(options, "%s: %s", path, error);
  struct check check = {.path = path, .max = max};
  const struct trace_visitor visitor = {count_event, print_violation, &check};
  uint64_t violations = trace_read(trace, &visitor);
  if (violations > check.printed)
    complain(options, "%s: %" PRIu64 " more violation%s", path,
             violations - check.printed, plural(violations - check.printed));
  if (!violations && !options->quiet) {
    uint64_t total = 0;
    for (unsigned type = 0; type < TYPES; type++)
      total += check.counts[type];
    printable_put(stdout, path, strlen(path));
    printf(": go 1.%u, %" PRIu64 " event%s, %" PRIu64 " tick%s per second\n",
           trace_minor(trace), total, plural(total), trace_frequency(trace),
           plural(trace_frequency(trace)));
    for (unsigned type = 0; type < TYPES; type++)
      if (check.counts[type])
        printf("%12" PRIu64 " %s\n", check.counts[type], event_type_name(type));
  }
  trace_close(trace);
  return violations ? STATUS_FOUND : STATUS_OK;
}

int command_trace_check(const struct options *options) {
  size_t most = 10;
  int status = STATUS_OK;
  if (!option_number(options, "max", options->most, 0, SIZE_MAX, &most))
    return STATUS_ERROR;
  for (int rule = 0; rule < TRACE_RULE_COUNT && options->rules; rule++)
    printf("%-20s %s\n", trace_rule_name(rule), trace_rule_text(rule));
  for (int i = 0; i < options->path_count && !options->rules; i++) {
    const int result = check_file(options, options->paths[i], most);
    status = result > status ? result : status;
  }
  return status;
}
