// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread has a sequence of changes of its state: the time since the last
// change in nanoseconds, the state with the reason of a wait, and the stack.
// trace.js reads the sequences.

#include "html/trace_page.h"

#include "common/idmap.h"
#include "common/intern.h"
#include "common/memory.h"
#include "files/json.h"
#include "html/stream.h"
#include "html/trace_merge.h"
#include "html/trace_slowest.h"
#include "html/trace_spans.h"
#include "symbolize/short_name.h"
#include "trace/axis.h"
#include "trace/convert.h"
#include "trace/event.h"
#include "trace/frame_tree.h"
#include "trace/json.h"
#include "trace/open.h"
#include "trace/short_name.h"
#include "trace/table.h"
#include "trace/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The page has at most MPROF_TRACE_ITEMS changes, arrows, regions and so on of
// a trace, which are about 8 MB. Fuzzers set fewer.
#ifndef MPROF_TRACE_ITEMS
#define MPROF_TRACE_ITEMS 500000
#endif
enum { MAX_FRAMES = 32, MAX_ITEMS = MPROF_TRACE_ITEMS };

struct change {
  uint64_t code; // the reason and the state
  int64_t stack;
};

struct thread {
  uint64_t g, m;
  struct trace_text name, label, lock; // lock: of the next wait
  uint64_t last;                       // time of the last change
  int64_t last_stack;
  struct change before; // the state before the window
  size_t change_count;
  struct stream changes;
};

// A text, such as why a thread waits, and the lock for which it waits, or "".
struct reason {
  struct trace_text text, lock;
};

struct page_timeline {
  struct timeline base;
  struct axis axis;
  struct trace_window window;
  struct idmap ids;
  struct thread *threads;
  struct reason *reasons;
  struct intern reason_set;
  size_t last_reason; // index
  size_t thread_count, thread_capacity, reason_count, reason_capacity;
  struct frame_tree frames;
  struct spans spans;
  struct stream arrows, heap;
  size_t arrow_count, heap_count;
  bool has_tasks, has_regions;
  uint64_t last_arrow, last_heap_time;
  int64_t last_heap, heap_before; // heap_before: before the window
};

// --- the calls of the converter

static uint32_t thread_of(struct page_timeline *l, uint64_t g) {
  size_t index;
  if (!idmap_find(&l->ids, g, &index)) {
    index = l->thread_count;
    idmap_add(&l->ids, g, index);
    *APPEND(l->threads, l->thread_count, l->thread_capacity) = (struct thread){
        .g = g, .lock = TEXT(""), .m = TRACE_NONE, .last = l->window.from};
  }
  return (uint32_t)index;
}

// The pointer is valid until the next thread is added.
static struct thread *thread_at(struct page_timeline *l, uint64_t g) {
  const uint32_t index = thread_of(l, g); // may move the threads
  return &l->threads[index];
}

struct reason_query {
  const struct page_timeline *line;
  struct reason reason;
};

static bool is_equal(struct reason a, struct reason b) {
  return trace_text_equal(a.text, b.text) && trace_text_equal(a.lock, b.lock);
}

static bool is_reason(const void *arg, uint32_t index) {
  const struct reason_query *q = arg;
  return is_equal(q->line->reasons[index], q->reason);
}

// Returns the number of the reason. Reason 0 is the empty text.
static size_t wait_of(struct page_timeline *l, struct trace_text text,
                      struct trace_text lock) {
  const struct reason reason = {text, lock};
  if (l->last_reason < l->reason_count &&
      is_equal(l->reasons[l->last_reason], reason))
    return l->last_reason;
  const struct reason_query query = {l, reason};
  const uint32_t next = (uint32_t)l->reason_count,
                 hash = intern_hash(intern_hash(0, text.bytes, text.length),
                                    lock.bytes, lock.length),
                 index =
                     intern_find(&l->reason_set, hash, next, is_reason, &query);
  if (index == next)
    *APPEND(l->reasons, l->reason_count, l->reason_capacity) = reason;
  l->last_reason = index;
  return index;
}

static size_t reason_of(struct page_timeline *l, struct trace_text text) {
  return wait_of(l, text, TEXT(""));
}

static uint32_t stack_of(struct page_timeline *l, uint64_t stack) {
  return frame_tree_add(&l->frames, l->axis.trace, stack, MAX_FRAMES);
}

static void line_at(struct timeline *line, uint64_t ticks) {
  struct page_timeline *l = (struct page_timeline *)line;
  axis_at(&l->axis, ticks);
}

// kind: 0 for a wakeup, 1 for the creation of a thread.
static void add_arrow(struct page_timeline *l, uint64_t by, uint32_t to,
                      unsigned kind, uint32_t stack) {
  if (!trace_window_has(l->window, l->axis.now))
    return;
  stream_put(&l->arrows, l->axis.now - l->last_arrow);
  stream_put(&l->arrows, thread_of(l, by));
  stream_put(&l->arrows, (uint64_t)to << 1 | kind);
  stream_put(&l->arrows, stack);
  l->last_arrow = l->axis.now;
  l->arrow_count++;
}

static void line_create(struct timeline *line, uint64_t g, uint64_t by,
                        uint64_t start_stack) {
  struct page_timeline *l = (struct page_timeline *)line;
  const uint32_t to = thread_of(l, g);
  const struct trace_frame *frames;
  if (trace_stack(l->axis.trace, start_stack, &frames)) {
    // page_short_name needs the parameters. It does not know the callable of
    // std::thread, which is not the begin of the name.
    const struct trace_text whole =
        trace_string(l->axis.trace, frames[0].function);
    const struct trace_text name = short_name(whole);
    l->threads[to].name = name.bytes == whole.bytes ? whole : name;
  }
  if (by)
    add_arrow(l, by, to, 1, 0);
}

static void put_change(struct thread *t, uint64_t time, struct change c) {
  stream_put(&t->changes, time - t->last);
  stream_put(&t->changes, c.code);
  stream_put_signed(&t->changes, c.stack - t->last_stack);
  t->last = time;
  t->last_stack = c.stack;
  t->change_count++;
}

// Puts the state in which the thread was when the window began.
static void put_before(struct page_timeline *l, struct thread *t) {
  if (t->before.code)
    put_change(t, l->window.from, t->before);
  t->before = (struct change){0};
}

static void add_change(struct page_timeline *l, uint32_t thread,
                       enum thread_state state, struct trace_text reason,
                       uint64_t stack) {
  struct thread *t = &l->threads[thread];
  const struct trace_text lock = state == THREAD_BLOCKED ? t->lock : TEXT("");
  const struct change c = {(uint64_t)wait_of(l, reason, lock) << STATE_BITS |
                               (unsigned)state,
                           stack_of(l, stack)};
  t->lock = TEXT("");
  if (l->axis.now < l->window.from) {
    t->before = c;
  } else if (l->axis.now <= l->window.to) {
    put_before(l, t);
    put_change(t, l->axis.now, c);
  }
}

static void line_state(struct timeline *line, uint64_t g,
                       enum thread_state state, struct trace_text reason,
                       uint64_t stack) {
  struct page_timeline *l = (struct page_timeline *)line;
  add_change(l, thread_of(l, g), state, reason, stack);
}

static void line_unblock(struct timeline *line, uint64_t g, uint64_t by,
                         uint64_t stack) {
  struct page_timeline *l = (struct page_timeline *)line;
  const uint32_t to = thread_of(l, g);
  if (by && by != g)
    add_arrow(l, by, to, 0, stack_of(l, stack));
  add_change(l, to, THREAD_RUNNABLE, TEXT(""), 0);
}

static void line_lock(struct timeline *line, uint64_t g, struct trace_text name,
                      uint64_t number) {
  struct page_timeline *l = (struct page_timeline *)line;
  (void)number;
  thread_at(l, g)->lock = name;
}

static void line_kernel_thread(struct timeline *line, uint64_t g, uint64_t m) {
  struct page_timeline *l = (struct page_timeline *)line;
  thread_at(l, g)->m = m;
}

static void line_name(struct timeline *line, uint64_t g,
                      struct trace_text name) {
  struct page_timeline *l = (struct page_timeline *)line;
  thread_at(l, g)->name = name;
}

static void line_label(struct timeline *line, uint64_t g,
                       struct trace_text label) {
  struct page_timeline *l = (struct page_timeline *)line;
  thread_at(l, g)->label = label;
  spans_label(&l->spans, l->axis.now, thread_of(l, g),
              label.length ? reason_of(l, label) : 0);
}

static void line_region_begin(struct timeline *line, uint64_t g,
                              struct trace_text name, uint64_t task,
                              uint64_t stack) {
  struct page_timeline *l = (struct page_timeline *)line;
  (void)task;
  (void)stack;
  l->has_regions = true;
  spans_region_begin(&l->spans, l->axis.now, thread_of(l, g),
                     reason_of(l, name));
}

static void line_region_end(struct timeline *line, uint64_t g) {
  struct page_timeline *l = (struct page_timeline *)line;
  spans_region_end(&l->spans, l->axis.now, thread_of(l, g));
}

// Adds messages of the program.
static void line_instant(struct timeline *line, uint64_t g,
                         const char *category, struct trace_text name,
                         struct trace_text value, uint64_t stack) {
  struct page_timeline *l = (struct page_timeline *)line;
  (void)stack;
  if (strcmp(category, "log") == 0)
    spans_message(&l->spans, l->axis.now, thread_of(l, g), reason_of(l, name),
                  reason_of(l, value));
}

static void line_range_begin(struct timeline *line, enum range_kind kind,
                             uint64_t id, struct trace_text name) {
  static const struct trace_text names[] = {
      [RANGE_TASK] = TEXT("task"),
      [RANGE_COLLECTION] = TEXT("garbage collection"),
      [RANGE_STOP] = TEXT("all threads stopped"),
      [RANGE_SWEEP] = TEXT("sweep"),
      [RANGE_ASSIST] = TEXT("assist of a garbage collection")};
  struct page_timeline *l = (struct page_timeline *)line;
  l->has_tasks |= kind == RANGE_TASK;
  spans_range_begin(&l->spans, l->axis.now, kind, id,
                    reason_of(l, name.length ? name : names[kind]));
}

static void line_range_end(struct timeline *line, enum range_kind kind,
                           uint64_t id) {
  struct page_timeline *l = (struct page_timeline *)line;
  l->has_tasks |= kind == RANGE_TASK;
  spans_range_end(&l->spans, l->axis.now, kind, id);
}

static void put_heap(struct page_timeline *l, uint64_t time, int64_t value) {
  stream_put(&l->heap, time - l->last_heap_time);
  stream_put_signed(&l->heap, value - l->last_heap);
  l->last_heap_time = time;
  l->last_heap = value;
  l->heap_count++;
}

static void line_counter(struct timeline *line, enum counter_kind kind,
                         uint64_t value) {
  struct page_timeline *l = (struct page_timeline *)line;
  if (kind != COUNTER_HEAP)
    return;
  // A damaged trace may have any value.
  const int64_t bytes = (int64_t)(value & INT64_MAX >> 1);
  if (l->axis.now < l->window.from) {
    l->heap_before = bytes;
    return;
  }
  if (l->axis.now > l->window.to)
    return;
  if (!l->heap_count && l->window.from)
    put_heap(l, l->window.from, l->heap_before);
  put_heap(l, l->axis.now, bytes);
}

static const struct timeline_sink sink = {.at = line_at,
                                          .create = line_create,
                                          .state = line_state,
                                          .unblock = line_unblock,
                                          .kernel_thread = line_kernel_thread,
                                          .name = line_name,
                                          .lock = line_lock,
                                          .label = line_label,
                                          .region_begin = line_region_begin,
                                          .region_end = line_region_end,
                                          .instant = line_instant,
                                          .range_begin = line_range_begin,
                                          .range_end = line_range_end,
                                          .counter = line_counter};

// --- writing

char *page_short_name(const char *name, size_t length) {
  char *whole = strndup(name, length);
  char *text = malloc(length + 1);
  if (whole && text) {
    struct mprof_text t = {.buf = text, .cap = length + 1};
    mprof_short_name(&t, whole, 0);
  }
  free(whole);
  return text;
}

static void put_short_name(FILE *out, struct trace_text name) {
  char *text = page_short_name(name.bytes, name.length);
  json_escape(out, trace_text_of(text ? text : ""));
  free(text);
}

void trace_text_write(struct trace_text text, FILE *out) {
  enum { MAX_TEXT = 256 };
  const size_t length = text.length < MAX_TEXT ? text.length : MAX_TEXT;
  char *copy = strndup(text.bytes ? text.bytes : "", length);
  json_string(out, copy ? copy : "");
  free(copy);
}

void trace_name_write(struct trace_text name, FILE *out) {
  char *text = page_short_name(name.bytes ? name.bytes : "", name.length);
  trace_text_write(trace_text_of(text ? text : ""), out);
  free(text);
}

static uint64_t duration(const struct page_timeline *l) {
  return l->window.to - l->window.from;
}

// Ends the window where the trace ends, and completes the changes.
static void finish(struct page_timeline *l) {
  if (l->window.to > l->axis.now)
    l->window.to = l->axis.now;
  for (size_t i = 0; i < l->thread_count; i++)
    put_before(l, &l->threads[i]);
}

// Returns the number of items that the page has if it merges intervals that are
// shorter, or a larger number than MAX_ITEMS.
static size_t items_with(const struct page_timeline *l, uint64_t shortest) {
  size_t count = spans_write(&l->spans, l->window, shortest, NULL);
  for (size_t i = 0; i < l->thread_count && count <= MAX_ITEMS; i++) {
    const struct thread *t = &l->threads[i];
    struct wait_ends ends = {0};
    count += merge_changes(&t->changes, t->change_count, duration(l), shortest,
                           NULL, &ends);
    count += ends.count; // each may have an arrow
    free(ends.times);
  }
  return count;
}

// Returns the length below which intervals are merged, or 0 if the trace is
// small.
static uint64_t shortest_of(const struct page_timeline *l) {
  // The spans of the whole trace are known, the others only in the window.
  size_t count = spans_write(&l->spans, l->window, 0, NULL) + l->arrow_count +
                 l->heap_count;
  for (size_t i = 0; i < l->thread_count; i++)
    count += l->threads[i].change_count;
  if (count <= MAX_ITEMS)
    return 0;
  static const uint64_t steps[] = {1, 2, 5};
  uint64_t power = 1000;
  for (unsigned i = 0;; i++) {
    const uint64_t shortest = steps[i % 3] * power;
    if (shortest > l->window.to || items_with(l, shortest) <= MAX_ITEMS)
      return shortest;
    if (i % 3 == 2)
      power *= 10;
  }
}

static void merge(struct page_timeline *l, uint64_t shortest) {
  struct wait_ends *ends = zeroed(l->thread_count, sizeof *ends);
  for (size_t i = 0; i < l->thread_count; i++) {
    struct thread *t = &l->threads[i];
    struct stream merged = {0};
    t->change_count = merge_changes(&t->changes, t->change_count, duration(l),
                                    shortest, &merged, &ends[i]);
    free(t->changes.bytes);
    t->changes = merged;
  }
  l->heap_count = merge_points(&l->heap, l->heap_count, shortest);
  l->arrow_count = merge_arrows(&l->arrows, l->arrow_count, ends);
  for (size_t i = 0; i < l->thread_count; i++)
    free(ends[i].times);
  free(ends);
}

// Writes the reasons: each is a text, or [text, lock].
static void write_reasons(const struct page_timeline *l, FILE *out) {
  fputs(",\n\"reasons\":[", out);
  for (size_t i = 0; i < l->reason_count; i++) {
    const struct reason *r = &l->reasons[i];
    fputs(i ? "," : "", out);
    fputs(r->lock.length ? "[" : "", out);
    trace_text_write(r->text, out);
    if (r->lock.length) {
      fputc(',', out);
      trace_text_write(r->lock, out);
      fputc(']', out);
    }
  }
  fputs("]", out);
}

static void write_threads(struct page_timeline *l, FILE *out) {
  fputs(",\n\"threads\":[", out);
  for (size_t i = 0; i < l->thread_count; i++) {
    struct thread *t = &l->threads[i];
    fprintf(out, "%s{\"id\":%" PRIu64 ",\"kernel\":", i ? ",\n" : "", t->g);
    if (t->m == TRACE_NONE)
      fputs("null", out);
    else
      fprintf(out, "%" PRIu64, t->m);
    fputs(",\"name\":", out);
    trace_name_write(t->name, out);
    fputs(",\"label\":", out);
    trace_text_write(t->label, out);
    stream_write(&t->changes, "changes", t->change_count, out);
    fputs("}", out);
  }
  fputs("]", out);
}

// Writes the frames as [parent, text]. The tree has escaped the texts for JSON,
// but not "<".
static void write_frames(const struct frame_tree *tree, FILE *out) {
  fputs(",\n\"frames\":[", out);
  for (size_t i = 0; i < tree->count; i++) {
    fprintf(out, "%s%" PRIu32 ",\"", i ? ",\n" : "", tree->nodes[i].parent);
    for (const char *c = tree->nodes[i].text; *c; c++)
      if (*c == '<')
        fputs("\\u003c", out);
      else
        fputc(*c, out);
    fputc('"', out);
  }
  fputs("]", out);
}

static void write_slowest(const struct page_timeline *l, struct trace *trace,
                          FILE *out) {
  enum { SLOWEST = 3 };
  struct latency latency;
  if (!l->has_tasks && !l->has_regions) // saves to read the trace again
    return;
  if (l->has_tasks)
    latency_find_tasks(&latency, NULL, trace); // convert printed the violations
  else
    latency_find_regions(&latency, trace);
  latency_find_slowest(&latency, trace, l->window, SLOWEST);
  slowest_write(&latency, l->window, out);
  latency_clear(&latency);
}

static void write_trace(struct page_timeline *l, struct trace *trace,
                        const char *name, uint64_t violations, FILE *out) {
  const uint64_t shortest = shortest_of(l);
  if (shortest)
    merge(l, shortest);
  fputs("{\"name\":", out);
  json_string(out, name);
  fprintf(out,
          ",\"begin\":%" PRIu64 ",\"duration\":%" PRIu64 ",\"whole\":%" PRIu64
          ",\"shortest\":%" PRIu64 ",\"violations\":%" PRIu64,
          l->window.from, duration(l), l->axis.now, shortest, violations);
  write_reasons(l, out);
  write_threads(l, out);
  stream_write(&l->arrows, "arrows", l->arrow_count, out);
  stream_write(&l->heap, "heap", l->heap_count, out);
  spans_write(&l->spans, l->window, shortest, out);
  write_frames(&l->frames, out);
  write_slowest(l, trace, out);
  fputs("}", out);
}

bool is_trace(const struct bytes *bytes) {
  static const char start[] = "go 1.";
  return bytes->length >= sizeof start - 1 &&
         memcmp(bytes->at, start, sizeof start - 1) == 0;
}

char *trace_json_of(const struct bytes *bytes, const char *path,
                    const char *name, struct trace_window window, char *error,
                    size_t size) {
  struct trace *trace = trace_open_bytes(bytes->at, bytes->length, error, size);
  if (!trace)
    return NULL;
  struct page_timeline l = {.base.sink = &sink,
                            .axis.trace = trace,
                            .window = window,
                            .last_arrow = window.from,
                            .last_heap_time = window.from,
                            .frames.put_name = put_short_name};
  reason_of(&l, TEXT(""));
  const uint64_t violations = convert(path, trace, &l.base);
  finish(&l);
  char *json = NULL;
  size_t length;
  const bool is_empty = l.window.from && l.window.from >= l.window.to;
  if (is_empty)
    snprintf(error, size,
             "the trace has nothing to show between --from and --to");
  FILE *out = is_empty ? NULL : open_memstream(&json, &length);
  if (out) {
    write_trace(&l, trace, name, violations, out);
    fclose(out);
  }
  frame_tree_clear(&l.frames);
  spans_clear(&l.spans);
  idmap_clear(&l.ids);
  free(l.threads);
  free(l.reasons);
  intern_free(&l.reason_set);
  trace_close(trace);
  return json;
}
