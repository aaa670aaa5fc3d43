// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof trace top prints the time of each thread in each state, which threads
// of an execution trace waited longest, which threads ended these waits, and
// which lines made other threads wait.

#include "commands/directory.h"
#include "commands/options.h"
#include "commands/show_place.h"
#include "commands/trace_end.h"
#include "common/plural.h"
#include "convert.h"
#include "json.h"
#include "open.h"
#include "times.h"
#include "waits.h"

#include <inttypes.h>
#include <stdio.h>

// Prints a time in us, ms or s, with the number in at least width columns. If
// width is not 0, every unit takes two columns, so that the decimal points of a
// table are aligned.
static void print_time(int width, uint64_t ns) {
  if (ns < 1000000)
    printf("%*.3f us", width, (double)ns / 1e3);
  else if (ns < 1000000000)
    printf("%*.3f ms", width, (double)ns / 1e6);
  else
    printf("%*.3f s%s", width, (double)ns / 1e9, width ? " " : "");
}

static void print_wait(struct timeline *line, size_t number,
                       const struct wait *w) {
  printf("%3zu. ", number);
  print_time(0, w->length);
  printf(" from %.6f s: ", (double)w->start / 1e9);
  if (w->reason.length)
    show_text(w->reason);
  else
    fputs("blocked", stdout);
  if (w->lock.length) {
    fputs(" for ", stdout);
    show_text(w->lock);
  }
  fputs("\n     ", stdout);
  show_thread(waits_thread_name(line, w->g), w->g);
  if (w->at.pc) {
    fputs(" at ", stdout);
    show_place(&w->at);
  }
  fputs("\n     ", stdout);
  switch (w->end) {
  case WAIT_WOKEN:
    fputs("woken", stdout);
    if (w->waker) {
      fputs(" by ", stdout);
      show_thread(waits_thread_name(line, w->waker), w->waker);
    }
    fputs(" at ", stdout);
    show_place(&w->woken_at);
    if (!w->waker)
      fputs(" (the trace does not record the thread that ended the wait, for "
            "example when one release wakes several threads)",
            stdout);
    break;
  case WAIT_BY_ITSELF:
    fputs("ended; the trace does not record which thread ended the wait",
          stdout);
    break;
  case WAIT_OPEN:
    fputs("still waiting at the end of the trace", stdout);
    break;
  }
  putchar('\n');
}

static void print_end(const struct wait_end *end) {
  print_time(10, end->total);
  printf("%9" PRIu64, end->count);
  print_time(10, end->longest);
  fputs("  ", stdout);
  switch (end->example.end) {
  case WAIT_WOKEN:
    show_place(&end->example.woken_at);
    break;
  case WAIT_BY_ITSELF:
    fputs("(no recorded waker, for example after a timeout)", stdout);
    break;
  case WAIT_OPEN:
    fputs("(still waiting at the end of the trace)", stdout);
    break;
  }
  putchar('\n');
}

static void print_holder(const struct holder *h) {
  print_time(10, h->total);
  printf("%9" PRIu64, h->count);
  print_time(10, h->longest);
  fputs("  ", stdout);
  show_place(&h->at);
  putchar('\n');
}

static void print_holders(const struct waits *w, size_t count) {
  if (!w->holder_count)
    return;
  printf("\nWhere locks were released that other threads waited for\n      "
         "total   unlocks      longest\n");
  for (size_t i = 0; i < w->holder_count && i < count; i++)
    print_holder(&w->holders[i]);
}

static void print_ends(const struct waits *w, size_t count) {
  if (!w->end_count)
    return;
  printf("\n%s\n"
         "      total     waits      longest\n",
         w->holder_count ? "Where other waits were ended"
                         : "Where waits were ended");
  for (size_t i = 0; i < w->end_count && i < count; i++)
    print_end(&w->ends[i]);
}

static void print_waits(const char *path, struct timeline *line,
                        const struct waits *w, const char *reason,
                        size_t count) {
  show_text(trace_text_of(path));
  printf(": %zu thread%s in ", w->times->count, plural(w->times->count));
  print_time(0, w->duration);
  printf("\n%" PRIu64 " wait%s%s", w->count, plural(w->count),
         reason ? " for " : "");
  show_text(trace_text_of(reason ? reason : ""));
  fputs(", ", stdout);
  print_time(0, w->total);
  printf(" in total\n");
  if (!reason && w->times->count) {
    puts("\nWhere the time of each thread went");
    show_times(w->times, count);
  }
  if (!w->count)
    return;
  printf("\nThe longest waits\n");
  for (size_t i = 0; i < w->longest_count; i++)
    print_wait(line, i + 1, &w->longest[i]);
  print_holders(w, count);
  print_ends(w, count);
}

// --- JSON ---

static void json_wait(const struct wait *w) {
  printf("{\"g\":%" PRIu64 ",", w->g);
  json_text(stdout, "reason", w->reason);
  if (w->lock.length) {
    putchar(',');
    json_text(stdout, "lock", w->lock);
  }
  printf(",\"start_ns\":%" PRIu64 ",\"length_ns\":%" PRIu64 ",\"has_ended\":%s",
         w->start, w->length, w->end == WAIT_OPEN ? "false" : "true");
  show_place_json("at", &w->at);
  if (w->waker)
    printf(",\"woken_by\":%" PRIu64, w->waker);
  if (w->end == WAIT_WOKEN)
    show_place_json("woken_at", &w->woken_at);
  putchar('}');
}

static void json_total(uint64_t count, uint64_t total, uint64_t longest) {
  printf("{\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64
         ",\"longest_ns\":%" PRIu64,
         count, total, longest);
}

static void json_waits(const struct waits *w, size_t count) {
  printf("{\"duration_ns\":%" PRIu64 ",\n\"threads\":[", w->duration);
  show_times_json(w->times);
  fputs("],\n\"waits\":", stdout);
  json_total(w->count, w->total, w->longest_count ? w->longest[0].length : 0);
  fputs("},\n\"longest\":[", stdout);
  for (size_t i = 0; i < w->longest_count; i++) {
    fputs(i ? ",\n" : "\n", stdout);
    json_wait(&w->longest[i]);
  }
  fputs("],\n\"unlocks\":[", stdout);
  for (size_t i = 0; i < w->holder_count && i < count; i++) {
    const struct holder *h = &w->holders[i];
    fputs(i ? ",\n" : "\n", stdout);
    json_total(h->count, h->total, h->longest);
    show_place_json("at", &h->at);
    putchar('}');
  }
  fputs("],\n\"wakes\":[", stdout);
  for (size_t i = 0; i < w->end_count && i < count; i++) {
    const struct wait_end *e = &w->ends[i];
    fputs(i ? ",\n" : "\n", stdout);
    json_total(e->count, e->total, e->longest);
    printf(",\"has_ended\":%s", e->example.end == WAIT_OPEN ? "false" : "true");
    show_place_json("at", &e->example.woken_at);
    putchar('}');
  }
  puts("]}");
}

int command_trace_top(const struct options *options) {
  const char *path = options->paths[0], *reason = options->reason;
  struct trace_window window;
  char error[256];
  size_t count = 10;
  if (!option_number(options, "count", options->count, 1, 1000, &count))
    return STATUS_ERROR;
  if (options->path_count != 1)
    return complain(options, "give one trace");
  if (!(path = directory_trace(options, path)))
    return STATUS_ERROR;
  if (!trace_window_parse(&window, options->from, options->to, error,
                          sizeof error))
    return complain(options, "%s", error);
  struct trace *trace = trace_open(path, error, sizeof error);
  if (!trace)
    return complain(options, "%s: %s", path, error);
  struct timeline *line = waits_begin(trace, reason, count, window);
  const uint64_t violations = convert(path, trace, line);
  const struct waits waits = waits_end(line);
  const bool is_empty = !trace_window_is_all(window) && !waits.duration;
  if (is_empty)
    complain(options,
             "%s: the trace has nothing to show between --from and --to", path);
  else if (option_is(options->format, "json"))
    json_waits(&waits, count);
  else
    print_waits(path, line, &waits, reason, count);
  waits_free(line);
  trace_close(trace);
  const int status =
      trace_end(options, path, violations, "the waits above are");
  return status == STATUS_OK && is_empty ? STATUS_FOUND : status;
}
