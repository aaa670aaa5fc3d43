// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof-trace2json: an execution trace as JSON for Perfetto and Chrome.

#include "convert.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DONE, BAD_TRACE, MISUSED, MESSAGES_MAX = 10 };

static const char usage[] =
    "Usage: mprof-trace2json [OPTION] TRACE\n"
    "Writes an execution trace (go 1.5 to 1.26, - is standard input) in the\n"
    "JSON format that https://ui.perfetto.dev and chrome://tracing open: a "
    "row\n"
    "for each thread with its states and user regions, arrows from who wakes\n"
    "or creates a thread to where it runs, tasks, logs and the heap in use.\n"
    "\n"
    "  -o, --output=FILE   write to FILE instead of standard output\n"
    "  -f, --frames=N      write N frames of a stack (default 16, 0: none)\n"
    "  -n, --name=NAME     name of the process (default: the trace's name)\n"
    "  -h, --help          print this and end\n"
    "\n"
    "Exit status: 0 done, 1 the trace is bad and only what could be read of "
    "it\n"
    "is written, 2 nothing could be read or written.\n";

struct conversion {
  struct converter converter;
  const char *path;
  unsigned messages;
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
    fprintf(stderr, "%s: offset 0x%" PRIx64 ": %s [%s]\n", conversion->path,
            offset, text, trace_rule_name(rule));
}

static int convert(const char *path, struct trace *trace, FILE *out,
                   const char *name, unsigned frames) {
  struct conversion conversion = {.path = path};
  struct converter *converter = &conversion.converter;
  converter->trace = trace;
  converter->line = timeline_begin(out, trace, name, frames);
  const struct trace_visitor visitor = {convert_event, print_violation,
                                        &conversion};
  uint64_t violations = trace_read(trace, &visitor);
  timeline_end(converter->line);
  convert_v1_end(converter);
  convert_v2_end(converter);
  if (violations)
    fprintf(stderr,
            "mprof-trace2json: %s: %" PRIu64
            " errors; what they concern is missing or wrong in the JSON\n",
            path, violations);
  return violations ? BAD_TRACE : DONE;
}

// Opening the trace itself for writing would empty it.
static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
         x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int convert_to(const char *path, struct trace *trace, const char *output,
                      const char *name, unsigned frames) {
  FILE *out = stdout;
  if (output && is_same_file(path, output)) {
    fprintf(stderr, "mprof-trace2json: %s: is the trace itself\n", output);
    return MISUSED;
  }
  if (output && !(out = fopen(output, "we"))) {
    fprintf(stderr, "mprof-trace2json: %s: %s\n", output, strerror(errno));
    return MISUSED;
  }
  int status = convert(path, trace, out, name, frames);
  int error = fflush(out) != 0 ? errno : 0;
  bool failed = ferror(out);
  if (fclose(out) != 0 && !error)
    error = errno;
  if (!error && !failed)
    return status;
  fprintf(stderr, "mprof-trace2json: %s: %s\n",
          output ? output : "standard output",
          error ? strerror(error) : "cannot be written");
  return MISUSED;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'},
      {"frames", required_argument, NULL, 'f'},
      {"name", required_argument, NULL, 'n'},
      {"help", no_argument, NULL, 'h'},
      {0}};
  const char *output = NULL, *name = NULL;
  unsigned long frames = 16;
  char *end;
  for (int option;
       (option = getopt_long(argc, argv, "o:f:n:h", options, NULL)) != -1;) {
    switch (option) {
    case 'o':
      output = optarg;
      break;
    case 'n':
      name = optarg;
      break;
    case 'f':
      frames = strtoul(optarg, &end, 10);
      if (*optarg < '0' || *optarg > '9' || *end || frames > 1000) {
        fprintf(
            stderr,
            "mprof-trace2json: --frames=%s is not a number from 0 to 1000\n",
            optarg);
        return MISUSED;
      }
      break;
    case 'h':
      fputs(usage, stdout);
      return DONE;
    default:
      fputs("Try mprof-trace2json --help\n", stderr);
      return MISUSED;
    }
  }
  if (optind + 1 != argc) {
    fputs(usage, stderr);
    return MISUSED;
  }
  const char *path = argv[optind];
  char error[256];
  struct trace *trace = trace_open(path, error, sizeof error);
  if (!trace) {
    fprintf(stderr, "mprof-trace2json: %s: %s\n", path, error);
    return MISUSED;
  }
  int status = convert_to(path, trace, output, name ? name : base_name(path),
                          (unsigned)frames);
  trace_close(trace);
  return status;
}
