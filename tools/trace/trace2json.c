// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof-trace2json writes an execution trace as JSON for Perfetto and Chrome.

#include "convert.h"
#include "open.h"
#include "timeline_json.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DONE, BAD_TRACE, MISUSED };

static const char usage[] =
    "Usage: mprof-trace2json [OPTION] TRACE\n"
    "Writes an execution trace (go 1.5 to 1.26) in the JSON format that\n"
    "https://ui.perfetto.dev and chrome://tracing open. TRACE - is standard\n"
    "input. The JSON has a row for each thread, with its states and user "
    "regions,\n"
    "arrows from the waker or creator of a thread to the place where the "
    "thread\n"
    "runs, and tasks, logs and the heap in use.\n"
    "\n"
    "  -o, --output=FILE   write to FILE instead of standard output\n"
    "  -f, --frames=N      write at most N frames per stack (default 16, 0: "
    "none)\n"
    "  -n, --name=NAME     name the process NAME (default: the trace's name)\n"
    "      --from=TIME     leave out the part before TIME\n"
    "      --to=TIME       leave out the part after TIME\n"
    "  -h, --help          print this help and exit\n"
    "\n"
    "TIME counts from the first event. Examples are 1.5s, 1500ms, 20us, 7ns "
    "and\n"
    "2, which means 2s.\n"
    "\n"
    "Exit status:\n"
    "  0  the JSON is complete\n"
    "  1  the trace is invalid, and the JSON has only its readable part; or "
    "the\n"
    "     trace has nothing from --from to --to\n"
    "  2  nothing can be read or written, or an option is wrong\n";

static int convert_file(const char *path, struct trace *trace, FILE *out,
                        const struct timeline_options *options) {
  struct timeline *line = timeline_begin(out, trace, options);
  uint64_t violations = convert(path, trace, line);
  uint64_t slices = timeline_end(line);
  if (violations)
    fprintf(stderr,
            "mprof-trace2json: %s: %" PRIu64
            " violations of the trace format; the JSON is incomplete or "
            "wrong\n",
            path, violations);
  bool missed = !slices && (options->from > 0 || options->to < UINT64_MAX);
  if (missed)
    fprintf(stderr,
            "mprof-trace2json: %s: the trace has nothing from --from to --to\n",
            path);
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
    fprintf(stderr,
            "mprof-trace2json: %s: the output file is the trace itself\n",
            output);
    return MISUSED;
  }
  if (output && !(out = fopen(output, "we"))) {
    fprintf(stderr, "mprof-trace2json: %s: %s\n", output, strerror(errno));
    return MISUSED;
  }
  int status = convert_file(path, trace, out, options);
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

static bool parse_frames(const char *text, unsigned *frames) {
  char *end;
  unsigned long n = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || n > 1000) {
    fprintf(stderr,
            "mprof-trace2json: --frames=%s is not a number from 0 to 1000\n",
            text);
    return false;
  }
  *frames = (unsigned)n;
  return true;
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
  fprintf(stderr,
          "mprof-trace2json: --%s=%s is not a time such as 1.5s or 20ms\n",
          option, text);
  return false;
}

struct arguments {
  const char *path;
  const char *output; // file to write; NULL: standard output
  struct timeline_options view;
};

// Parses the command line into *a. If the program must exit at once, sets
// *status to the exit status and returns false.
static bool parse_options(int argc, char **argv, struct arguments *a,
                          int *status) {
  enum { FROM = 256, TO };
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'},
      {"frames", required_argument, NULL, 'f'},
      {"name", required_argument, NULL, 'n'},
      {"from", required_argument, NULL, FROM},
      {"to", required_argument, NULL, TO},
      {"help", no_argument, NULL, 'h'},
      {0}};
  for (int option;
       (option = getopt_long(argc, argv, "o:f:n:h", options, NULL)) != -1;) {
    bool valid = true;
    switch (option) {
    case 'o':
      a->output = optarg;
      break;
    case 'n':
      a->view.name = optarg;
      break;
    case 'f':
      valid = parse_frames(optarg, &a->view.frames);
      break;
    case FROM:
      valid = parse_time("from", optarg, &a->view.from);
      break;
    case TO:
      valid = parse_time("to", optarg, &a->view.to);
      break;
    case 'h':
      fputs(usage, stdout);
      *status = DONE;
      return false;
    default:
      fputs("Try mprof-trace2json --help\n", stderr);
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

int main(int argc, char **argv) {
  struct arguments a = {.view = {.frames = 16, .to = UINT64_MAX}};
  int status;
  if (!parse_options(argc, argv, &a, &status))
    return status;
  if (optind + 1 != argc) {
    fputs(usage, stderr);
    return MISUSED;
  }
  if (a.view.from >= a.view.to) {
    fputs("mprof-trace2json: --from is not before --to\n", stderr);
    return MISUSED;
  }
  a.path = argv[optind];
  if (!a.view.name)
    a.view.name = base_name(a.path);
  char error[256];
  struct trace *trace = trace_open(a.path, error, sizeof error);
  if (!trace) {
    fprintf(stderr, "mprof-trace2json: %s: %s\n", a.path, error);
    return MISUSED;
  }
  status = convert_to(a.path, trace, a.output, &a.view);
  trace_close(trace);
  return status;
}
