// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof trace check checks whether a trace obeys the rules of rules.def. For an
// invalid trace, the tool prints the first violations. For a valid trace, the
// tool prints the number of events of each type.

#include "common/option_mistake.h"
#include "common/plural.h"
#include "common/printable.h"
#include "event_types.h"
#include "open.h"
#include "read.h"
#include "report.h"
#include "tools.h"
#include "trace.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOOD, BAD, MISUSED, TYPES = 256 };

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
  trace_say("%s: offset 0x%" PRIx64 ": %s [%s]", check->path, offset, text,
            trace_rule_name(rule));
}

static int check_file(const char *path, uint64_t max, bool quiet) {
  char error[256];
  struct trace *trace = trace_open(path, error, sizeof error);
  if (!trace) {
    trace_say("%s: %s", path, error);
    return MISUSED;
  }
  struct check check = {.path = path, .max = max};
  const struct trace_visitor visitor = {count_event, print_violation, &check};
  uint64_t violations = trace_read(trace, &visitor);
  if (violations > check.printed)
    trace_say("%s: %" PRIu64 " more violation%s", path,
              violations - check.printed, plural(violations - check.printed));
  if (!violations && !quiet) {
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
  return violations ? BAD : GOOD;
}

int trace_check(int argc, char **argv) {
  enum { RULES = 256 };
  static const struct option options[] = {{"max", required_argument, NULL, 'm'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"rules", no_argument, NULL, RULES},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  uint64_t max = 10;
  bool quiet = false;
  char *end;
  static const char shorts[] = "m:qh";
  opterr = 0;
  for (int option;
       (option = getopt_long(argc, argv, shorts, options, NULL)) != -1;) {
    switch (option) {
    case 'm':
      max = strtoull(optarg, &end, 10);
      if (*optarg < '0' || *optarg > '9' || *end) {
        trace_say("%s: --max=%s is not a number", trace_tool_name, optarg);
        return MISUSED;
      }
      break;
    case 'q':
      quiet = true;
      break;
    case RULES:
      for (int rule = 0; rule < TRACE_RULE_COUNT; rule++)
        printf("%-20s %s\n", trace_rule_name(rule), trace_rule_text(rule));
      return GOOD;
    case 'h':
      trace_usage(stdout, "check");
      return GOOD;
    default:
      option_mistake(trace_tool_name, argv, shorts, options);
      trace_say("Try %s --help", trace_tool_name);
      return MISUSED;
    }
  }
  if (optind == argc) {
    trace_usage(stderr, "check");
    return MISUSED;
  }
  int status = GOOD;
  for (int i = optind; i < argc; i++) {
    int result = check_file(argv[i], max, quiet);
    if (result > status)
      status = result;
  }
  return status;
}
