// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof trace json writes an execution trace as JSON for Perfetto and Chrome.

#include "commands/directory.h"
#include "commands/options.h"
#include "commands/trace_end.h"
#include "common/plural.h"
#include "convert.h"
#include "event.h"
#include "open.h"
#include "read.h"
#include "timeline_json.h"
#include "trace_data.h"
#include "window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int convert_file(const struct options *o, struct trace *trace, FILE *out,
                        const struct timeline_options *view) {
  const char *path = o->paths[0];
  struct timeline *line = timeline_begin(out, trace, view);
  const uint64_t violations = convert(path, trace, line);
  const struct timeline_result result = timeline_end(line);
  trace_complain(o, path, violations, "the JSON is");
  if (result.arrows_left_out)
    complain(o,
             "%s: left out %" PRIu64 " arrow%s to keep the JSON small; "
             "--arrows=all writes them",
             path, result.arrows_left_out, plural(result.arrows_left_out));
  if (result.points_left_out)
    complain(o,
             "%s: left out %" PRIu64 " short system call%s to keep the JSON "
             "small; --arrows=all writes them",
             path, result.points_left_out, plural(result.points_left_out));
  const bool missed = !result.slices && !trace_window_is_all(view->window);
  if (missed)
    complain(o, "%s: the trace has nothing to show between --from and --to",
             path);
  return violations || missed ? STATUS_FOUND : STATUS_OK;
}

// Returns whether both paths lead to the same regular file. If the output file
// were the trace, opening the output file would empty the trace.
static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
         x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int convert_to(const struct options *o, struct trace *trace,
                      const struct timeline_options *view) {
  FILE *out = stdout;
  if (o->output && is_same_file(o->paths[0], o->output))
    return complain(o, "%s: the output file is the trace itself", o->output);
  if (o->output && !(out = fopen(o->output, "we")))
    return complain(o, "%s: %s", o->output, strerror(errno));
  const int status = convert_file(o, trace, out, view);
  int error = fflush(out) != 0 ? errno : 0;
  const bool failed = ferror(out);
  if (fclose(out) != 0 && !error)
    error = errno;
  if (!error && !failed)
    return status;
  return complain(o, "%s: %s", o->output ? o->output : "standard output",
                  error ? strerror(error) : "cannot be written");
}

// Reads the options of the JSON. Returns false after a message.
static bool read_options(const struct options *o,
                         struct timeline_options *view) {
  struct trace_window window;
  size_t frames = 16;
  char error[256];
  if (!option_number(o, "frames", o->frames, 0, 1000, &frames))
    return false;
  if (!trace_window_parse(&window, o->from, o->to, error, sizeof error)) {
    complain(o, "%s", error);
    return false;
  }
  *view =
      (struct timeline_options){.name = o->name,
                                .frames = (unsigned)frames,
                                .stacks_as_text = option_is(o->stacks, "text"),
                                .window = window};
  return true;
}

int command_trace_json(const struct options *o) {
  const char *path = o->paths[0];
  const bool has_all_arrows = option_is(o->arrows, "all");
  struct timeline_options view;
  char error[256];
  if (!read_options(o, &view))
    return STATUS_ERROR;
  if (o->path_count != 1)
    return complain(o, "give one trace");
  if (!(path = directory_trace(o, path)))
    return STATUS_ERROR;
  if (!view.name)
    view.name = basename(path);
  struct trace *trace = trace_open(path, error, sizeof error);
  if (!trace)
    return complain(o, "%s: %s", path, error);
  // The size of the JSON text is limited only if the text shows the whole trace
  // and has no stacks as text.
  if (trace_window_is_all(view.window) && !view.stacks_as_text &&
      !has_all_arrows)
    view.bytes_per_event = bytes_per_event(trace);
  const int status = convert_to(o, trace, &view);
  trace_close(trace);
  return status;
}
