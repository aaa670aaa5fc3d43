// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof trace json writes an execution trace as JSON for Perfetto and Chrome.

#include "common/option_mistake.h"
#include "common/plural.h"
#include "convert.h"
#include "event.h"
#include "open.h"
#include "read.h"
#include "timeline_json.h"
#include "tools.h"
#include "trace_data.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DONE, BAD_TRACE, MISUSED };
// Limit for the size of the JSON text, as a multiple of the size of the trace.
// The documented limit is 15, but has_room in timeline_json.c only estimates
// the size of the text.
enum { TIMES_THE_TRACE = 14 };

static void count_event(void *context, const struct trace_event *event) {
  (void)event;
  ++*(uint64_t *)context;
}

static void skip_violation(void *context, enum trace_rule rule, uint64_t offset,
                           const char *text) {
  (void)context, (void)rule, (void)offset, (void)text;
}

// Returns the largest allowed size of the JSON text in bytes, divided by the
// number of events of the trace.
static double bytes_per_event(struct trace *trace) {
  uint64_t events = 0;
  const struct trace_visitor visitor = {count_event, skip_violation, &events};
  trace_read(trace, &visitor);
  return events ? TIMES_THE_TRACE * (double)trace->size / (double)events : 0;
}

static void tell(const char *path, const char *text) {
  trace_say("%s: %s: %s", trace_tool_name, path, text);
}

static int convert_file(const char *path, struct trace *trace, FILE *out,
                        const struct timeline_options *options) {
  struct timeline *line = timeline_begin(out, trace, options);
  uint64_t violations = convert(path, trace, line);
  struct timeline_result result = timeline_end(line);
  char text[128];
  if (violations) {
    snprintf(text, sizeof text,
             "%" PRIu64 " violation%s of the trace format; the JSON is "
             "incomplete or wrong",
             violations, plural(violations));
    tell(path, text);
  }
  if (result.arrows_left_out) {
    snprintf(text, sizeof text,
             "left out %" PRIu64 " arrow%s to keep the JSON small; "
             "--arrows=all writes them",
             result.arrows_left_out, plural(result.arrows_left_out));
    tell(path, text);
  }
  if (result.points_left_out) {
    snprintf(text, sizeof text,
             "left out %" PRIu64 " short system call%s to keep the JSON small; "
             "--arrows=all writes them",
             result.points_left_out, plural(result.points_left_out));
    tell(path, text);
  }
  bool missed =
      !result.slices && (options->from > 0 || options->to < UINT64_MAX);
  if (missed)
    tell(path, "the trace has nothing to show between --from and --to");
  return violations || missed ? BAD_TRACE : DONE;
}

// Returns whether both paths lead to the same regular file. If the output file
// were the trace, opening the output file would empty the trace.
static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
         x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int convert_to(const char *path, struct trace *trace, const char *output,
                      const struct timeline_options *options) {
  FILE *out = stdout;
  if (output && is_same_file(path, output)) {
    trace_say("%s: %s: the output file is the trace itself", trace_tool_name,
              output);
    return MISUSED;
  }
  if (output && !(out = fopen(output, "we"))) {
    trace_say("%s: %s: %s", trace_tool_name, output, strerror(errno));
    return MISUSED;
  }
  int status = convert_file(path, trace, out, options);
  int error = fflush(out) != 0 ? errno : 0;
  bool failed = ferror(out);
  if (fclose(out) != 0 && !error)
    error = errno;
  if (!error && !failed)
    return status;
  trace_say("%s: %s: %s", trace_tool_name, output ? output : "standard output",
            error ? strerror(error) : "cannot be written");
  return MISUSED;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool parse_frames(const char *text, unsigned *frames) {
  char *end;
  unsigned long n = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || n > 1000) {
    trace_say("%s: --frames=%s is not a number from 0 to 1000", trace_tool_name,
              text);
    return false;
  }
  *frames = (unsigned)n;
  return true;
}

static bool parse_stacks(const char *text, bool *as_text) {
  *as_text = strcmp(text, "text") == 0;
  if (*as_text || strcmp(text, "frames") == 0)
    return true;
  trace_say("%s: --stacks=%s is neither text nor frames", trace_tool_name,
            text);
  return false;
}

static bool parse_arrows(const char *text, bool *all) {
  *all = strcmp(text, "all") == 0;
  if (*all || strcmp(text, "some") == 0)
    return true;
  trace_say("%s: --arrows=%s is neither some nor all", trace_tool_name, text);
  return false;
}

static bool parse_time(const char *option, const char *text, uint64_t *ns) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
  char *end = NULL;
  double value = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
  for (size_t i = 0; end && i < sizeof units / sizeof *units; i++) {
    // A double represents every integer up to 2^53 exactly. 9e15 ns (104 days)
    // is just below 2^53 ns.
    if (strcmp(end, units[i].name) == 0 && value * units[i].ns < 9e15) {
      *ns = (uint64_t)(value * units[i].ns + 0.5);
      return true;
    }
  }
  trace_say("%s: --%s=%s is not a time such as 1.5s or 20ms", trace_tool_name,
            option, text);
  return false;
}

struct arguments {
  const char *path;
  const char *output; // file to write; NULL: standard output
  bool all_arrows;    // write all arrows, however large the JSON text is
  struct timeline_options view;
};

// Parses the command line into *a. If the program must exit at once, sets
// *status to the exit status and returns false.
static bool parse_options(int argc, char **argv, struct arguments *a,
                          int *status) {
  enum { FROM = 256, TO, STACKS, ARROWS };
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'},
      {"frames", required_argument, NULL, 'f'},
      {"name", required_argument, NULL, 'N'},
      {"arrows", required_argument, NULL, ARROWS},
      {"stacks", required_argument, NULL, STACKS},
      {"from", required_argument, NULL, FROM},
      {"to", required_argument, NULL, TO},
      {"help", no_argument, NULL, 'h'},
      {0}};
  static const char shorts[] = "o:f:h";
  opterr = 0;
  for (int option;
       (option = getopt_long(argc, argv, shorts, options, NULL)) != -1;) {
    bool valid = true;
    switch (option) {
    case 'o':
      a->output = optarg;
      break;
    case 'N':
      a->view.name = optarg;
      break;
    case 'f':
      valid = parse_frames(optarg, &a->view.frames);
      break;
    case ARROWS:
      valid = parse_arrows(optarg, &a->all_arrows);
      break;
    case STACKS:
      valid = parse_stacks(optarg, &a->view.stacks_as_text);
      break;
    case FROM:
      valid = parse_time("from", optarg, &a->view.from);
      break;
    case TO:
      valid = parse_time("to", optarg, &a->view.to);
      break;
    case 'h':
      trace_usage(stdout, "json");
      *status = DONE;
      return false;
    default:
      option_mistake(trace_tool_name, argv, shorts, options);
      trace_say("Try %s --help", trace_tool_name);
      valid = false;
      break;
    }
    if (!valid) {
      *status = MISUSED;
      return false;
    }
  }
  return true;
}

int trace_json(int argc, char **argv) {
  struct arguments a = {.view = {.frames = 16, .to = UINT64_MAX}};
  int status;
  if (!parse_options(argc, argv, &a, &status))
    return status;
  if (optind + 1 != argc) {
    trace_usage(stderr, "json");
    return MISUSED;
  }
  if (a.view.from >= a.view.to) {
    trace_say("%s: --from is not before --to", trace_tool_name);
    return MISUSED;
  }
  a.path = argv[optind];
  if (!a.view.name)
    a.view.name = base_name(a.path);
  char error[256];
  struct trace *trace = trace_open(a.path, error, sizeof error);
  if (!trace) {
    trace_say("%s: %s: %s", trace_tool_name, a.path, error);
    return MISUSED;
  }
  // The size of the JSON text is limited only if the text shows the whole trace
  // and has no stacks as text.
  bool is_whole = a.view.from == 0 && a.view.to == UINT64_MAX;
  if (is_whole && !a.view.stacks_as_text && !a.all_arrows)
    a.view.bytes_per_event = bytes_per_event(trace);
  status = convert_to(a.path, trace, a.output, &a.view);
  trace_close(trace);
  return status;
}
