// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a timeline as JSON for Perfetto and chrome://tracing.
//
// Each thread has a row of slices. At any time, the row has one slice for the
// state of the thread, inside the slices of the thread's open regions. When a
// region begins or ends, the slice of the state ends and a new slice of the
// state begins. So slices always nest, even if the state changes while a region
// is open.
//
// A slice is written as one line when it ends. So memory grows with the number
// of threads, stacks, open regions and ranges, not with the number of events. A
// slice refers to its stack by a number. All stacks are written once, after the
// slices.
//
// The unit of times is 1/32 us; see json.h.

#include "timeline_json.h"

#include "axis.h"
#include "common/idmap.h"
#include "common/memory.h"
#include "event.h"
#include "frame_tree.h"
#include "json.h"
#include "short_name.h"
#include "table.h"
#include "timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct open_region {
  struct trace_text name;
  uint64_t start, task;
  uint32_t stack;
};

// An arrow to the next slice in which a thread is running. from: the thread
// that woke or created this thread. at: the time at which this happened.
struct arrow {
  bool pending;
  const char *name;
  uint64_t from, at;
};

struct thread {
  uint64_t g;
  enum thread_state state;
  uint64_t start; // start of the slice of the current state
  struct trace_text reason;
  struct trace_text lock, next_lock; // of the current and of the next wait
  // Numbers of stacks in the frame tree; 0: no stack. stack: at the start of
  // the state. waker_stack: stack of the waker when it ended the wait.
  uint32_t stack, waker_stack;
  uint64_t waker; // thread that ended the wait; 0: not known
  struct arrow arrow;
  bool pointed_at; // an arrow ends at the slice of the current state
  struct trace_text name, label;
  uint64_t m;    // latest kernel thread; TRACE_NONE: not known
  bool migrates; // the thread has run on several kernel threads
  bool drawn;    // a slice of the thread has been written
  struct open_region *regions;
  size_t region_count, region_capacity;
};

struct range {
  bool open;
  enum range_kind kind;
  uint64_t id;
  struct trace_text name;
};

struct counter {
  bool known;
  uint64_t value;
};

struct json_timeline {
  struct timeline base;
  FILE *out;
  struct timeline_options options;
  // Whether the current time is before, inside or after the time window of the
  // options.
  enum { BEFORE, INSIDE, AFTER } window;
  struct axis axis;
  uint64_t now; // current time, in 1/32 us since the first event
  uint64_t arrows, slices, arrows_left_out;
  uint64_t points, points_left_out;
  uint64_t calls; // calls of timeline_at, one for each event
  struct idmap ids;
  struct thread *threads;
  size_t count, capacity;
  struct idmap range_ids[RANGE_KINDS];
  struct range *ranges;
  size_t range_count, range_capacity;
  struct counter counters[COUNTER_KINDS];
  struct frame_tree frames;
};

static uint32_t stack_of(struct json_timeline *l, uint64_t stack) {
  return frame_tree_add(&l->frames, l->axis.trace, stack, l->options.frames);
}

// Writes the number of a stack as the member `key` of a JSON event. Key "sf":
// the stack at the begin of the event. Key "esf": the stack at its end.
static void put_stack_number(struct json_timeline *l, const char *key,
                             uint32_t stack) {
  if (stack && !l->options.stacks_as_text)
    fprintf(l->out, ",\"%s\":%" PRIu32, key, stack);
}

static void put_stack_text(struct json_timeline *l, struct json_details *d,
                           const char *key, uint32_t stack) {
  if (!stack || !l->options.stacks_as_text)
    return;
  json_key(d, key);
  fputc('"', l->out);
  frame_tree_put_text(l->out, &l->frames, stack);
  fputc('"', l->out);
}

static struct thread *thread_of(struct json_timeline *l, uint64_t g) {
  const size_t index = idmap_get(&l->ids, g, l->count);
  if (index == l->count)
    *APPEND(l->threads, l->count, l->capacity) =
        (struct thread){.g = g, .start = l->now, .m = TRACE_NONE};
  return &l->threads[index];
}

static void put_thread(struct json_timeline *l, const struct thread *t) {
  if (t->name.length) {
    json_escape(l->out, t->name);
    fputc(' ', l->out);
  }
  fprintf(l->out, "G%" PRIu64, t->g);
}

static void put_slice(struct json_timeline *l, struct thread *t, uint64_t start,
                      uint64_t end) {
  json_head(l->out, 'X', t->g, start);
  json_time(l->out, "dur", end - start);
  t->drawn = true;
  l->slices++;
}

// Writes the stacks of a wait and the thread that ended the wait as details, if
// the options say so.
static void put_wait(struct json_timeline *l, struct thread *t,
                     struct json_details *d) {
  if (!l->options.stacks_as_text)
    return;
  put_stack_text(l, d, "stack", t->stack);
  if (t->waker) {
    json_key(d, "woken by");
    fputc('"', l->out);
    put_thread(l, thread_of(l, t->waker));
    fputc('"', l->out);
  }
  put_stack_text(l, d, "woken at", t->waker_stack);
}

// Ends the slice of the thread's current state at the time `then`, and writes
// the slice. Does not write a slice outside the time window. Writes an empty
// slice only if the thread waits in it or an arrow ends at it.
static void end_state(struct json_timeline *l, struct thread *t,
                      uint64_t then) {
  static const char *const names[] = {[THREAD_RUNNABLE] = "runnable",
                                      [THREAD_RUNNING] = "running",
                                      [THREAD_BLOCKED] = "blocked",
                                      [THREAD_IN_CALL] = "system call"};
  uint64_t start = t->start;
  t->start = then;
  bool waits = t->state == THREAD_BLOCKED || t->state == THREAD_IN_CALL;
  bool empty = start == then && !waits && !t->pointed_at;
  t->pointed_at = false;
  if (t->state == THREAD_ABSENT || empty || l->window != INSIDE)
    return;
  put_slice(l, t, start, then);
  fprintf(l->out, ",\"name\":\"%s", names[t->state]);
  if (t->reason.length) {
    fputs(": ", l->out);
    json_escape(l->out, t->reason);
  }
  fputc('"', l->out);
  if (waits) {
    put_stack_number(l, "sf", t->stack);
    put_stack_number(l, "esf", t->waker_stack);
  }
  struct json_details d = {l->out, false};
  json_detail(&d, "label", t->label);
  json_detail(&d, "lock", t->lock);
  if (waits)
    put_wait(l, t, &d);
  json_end_details(&d);
  fputc('}', l->out);
}

// Returns the time at which the next slice of thread t can begin. This is the
// current time, or up to some units later, because timeline_region_begin and
// timeline_region_end add one unit for each region.
static uint64_t row_now(const struct json_timeline *l, const struct thread *t) {
  return l->now > t->start ? l->now : t->start;
}

// Ends the slice of the thread's current state, so that the caller can begin or
// end a region or change the label. Returns the time at which the next slice
// begins. If the slice is empty and no arrow ends at it, the slice goes on,
// because a new slice would begin at the same time.
static uint64_t cut_state(struct json_timeline *l, struct thread *t) {
  uint64_t at = row_now(l, t);
  if (t->start < at || t->pointed_at)
    end_state(l, t, at);
  return at;
}

static void put_region(struct json_timeline *l, struct thread *t,
                       const struct open_region *r, uint64_t end) {
  put_slice(l, t, r->start, end);
  fputs(",\"cat\":\"region\",", l->out);
  json_text(l->out, "name", r->name);
  put_stack_number(l, "sf", r->stack);
  struct json_details d = {l->out, false};
  if (r->task) {
    json_key(&d, "task");
    fprintf(l->out, "%" PRIu64, r->task);
  }
  put_stack_text(l, &d, "stack", r->stack);
  json_end_details(&d);
  fputc('}', l->out);
}

static void end_region(struct json_timeline *l, struct thread *t,
                       uint64_t end) {
  struct open_region *r = &t->regions[--t->region_count];
  if (l->window == INSIDE)
    put_region(l, t, r, end);
}

// Returns whether the JSON text may get an arrow or the point (the instant) of
// a short system call without exceeding the limit of the options. Without
// arrows and points, the text nearly always stays below the limit.
static bool has_room(const struct json_timeline *l) {
  // Typical sizes of one slice, one arrow and one point in the text.
  enum { SLICE_BYTES = 90, ARROW_BYTES = 150, POINT_BYTES = 100 };
  enum { SMALL = 256 * 1024 }; // a text of this size needs no limit
  double limit = l->options.bytes_per_event * (double)l->calls;
  uint64_t bytes = l->slices * SLICE_BYTES + l->arrows * ARROW_BYTES +
                   l->points * POINT_BYTES;
  return limit == 0 || bytes < SMALL || (double)bytes < limit;
}

// Writes the start (phase s) or the end (phase f) of an arrow. The member "bp"
// makes the arrow end at the slice that encloses the end of the arrow.
static void put_arrow(struct json_timeline *l, const struct arrow *a,
                      char phase, uint64_t g, uint64_t time) {
  json_head(l->out, phase, g, time);
  fprintf(l->out, ",\"name\":\"%s\",\"id\":%" PRIu64 "%s}", a->name, l->arrows,
          phase == 'f' ? ",\"bp\":\"e\"" : "");
}

// Draws the arrow that ends at time `to`, where thread t begins to run.
static void draw_arrow(struct json_timeline *l, struct thread *t, uint64_t to) {
  if (!has_room(l)) {
    l->arrows_left_out++;
    return;
  }
  t->pointed_at = true;
  l->arrows++;
  put_arrow(l, &t->arrow, 's', t->arrow.from, t->arrow.at);
  put_arrow(l, &t->arrow, 'f', t->g, to);
}

static const struct timeline_sink sink; // at the end of this file

struct timeline *timeline_begin(FILE *out, const struct trace *trace,
                                const struct timeline_options *options) {
  struct json_timeline *l = zeroed(1, sizeof *l);
  l->base.sink = &sink;
  l->out = out;
  l->options = *options;
  l->options.window.from = json_units(options->window.from);
  if (options->window.to < UINT64_MAX)
    l->options.window.to = json_units(options->window.to);
  l->axis.trace = trace;
  fprintf(out,
          "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{",
          JSON_PROCESS);
  const char *name = options->name;
  json_text(l->out, "name", trace_text_of(name));
  fputs("}}", out);
  return &l->base;
}

static void put_thread_name(struct json_timeline *l, const struct thread *t) {
  json_meta(l->out, t->g, "thread_name");
  fputs("\"name\":\"", l->out);
  put_thread(l, t);
  if (t->m != TRACE_NONE && !t->migrates)
    fprintf(l->out, " tid %" PRIu64, t->m);
  fputs("\"}}", l->out);
  json_meta(l->out, t->g, "thread_sort_index");
  fprintf(l->out, "\"sort_index\":%" PRIu64 "}}", t->g);
}

static void put_range(struct json_timeline *l, const struct range *r,
                      char phase) {
  static const struct {
    const char *category, *name;
  } kinds[RANGE_KINDS] = {[RANGE_TASK] = {"task", NULL},
                          [RANGE_COLLECTION] = {"collector", "collection"},
                          [RANGE_STOP] = {"collector", "world stopped"},
                          [RANGE_SWEEP] = {"collector", "sweep"},
                          [RANGE_ASSIST] = {"collector", "assist"}};
  json_head(l->out, phase, 0, l->now);
  fprintf(l->out, ",\"cat\":\"%s\",\"id\":\"%" PRIu64 "\",",
          kinds[r->kind].category, r->id);
  const char *name = kinds[r->kind].name;
  json_text(l->out, "name", name ? trace_text_of(name) : r->name);
  fputc('}', l->out);
}

static void put_counter(struct json_timeline *l, enum counter_kind kind) {
  static const char *const names[] = {
      [COUNTER_HEAP] = "heap in use", [COUNTER_GOAL] = "heap goal"};
  json_head(l->out, 'C', 0, l->now);
  fprintf(l->out, ",\"name\":\"%s\",\"args\":{\"bytes\":%" PRIu64 "}}",
          names[kind], l->counters[kind].value);
}

static void put_counters(struct json_timeline *l) {
  for (size_t kind = 0; kind < COUNTER_KINDS; kind++)
    if (l->counters[kind].known)
      put_counter(l, kind);
}

// Begins the time window. States, regions and ranges that began earlier are
// written as if they began now.
static void begin_window(struct json_timeline *l) {
  l->window = INSIDE;
  for (size_t i = 0; i < l->count; i++) {
    struct thread *t = &l->threads[i];
    t->start = l->now;
    for (size_t k = 0; k < t->region_count; k++)
      t->regions[k].start = t->start++;
    t->arrow.pending = t->pointed_at = false;
  }
  for (size_t i = 0; i < l->range_count; i++)
    if (l->ranges[i].open)
      put_range(l, &l->ranges[i], 'b');
  put_counters(l);
}

// Ends the time window. States, regions and ranges that are still open are
// written as if they ended now.
static void end_window(struct json_timeline *l) {
  for (size_t i = 0; i < l->count; i++) {
    struct thread *t = &l->threads[i];
    // A slice must end before the slice around it. So with n open regions, the
    // slice of the state ends n units of time before the end of the window, and
    // each region ends one unit after the slice inside it. If the state is
    // shorter than n units, the outer regions end after the end of the window.
    uint64_t end = row_now(l, t), inner = t->start;
    if (inner + t->region_count < end)
      inner = end - t->region_count;
    end_state(l, t, inner);
    while (t->region_count)
      end_region(l, t, ++inner);
  }
  for (size_t i = 0; i < l->range_count; i++)
    if (l->ranges[i].open)
      put_range(l, &l->ranges[i], 'e');
  // chrome://tracing draws a counter only up to its last value, so write the
  // values again at the end of the window.
  put_counters(l);
  l->window = AFTER;
}

struct timeline_result timeline_end(struct timeline *line) {
  struct json_timeline *l = (struct json_timeline *)line;
  if (l->window == INSIDE)
    end_window(l);
  for (size_t i = 0; i < l->count; i++) {
    struct thread *t = &l->threads[i];
    if (t->drawn)
      put_thread_name(l, t);
    while (t->region_count)
      end_region(l, t, l->now);
    free(t->regions);
  }
  for (size_t kind = 0; kind < RANGE_KINDS; kind++)
    idmap_clear(&l->range_ids[kind]);
  free(l->ranges);
  fputs("\n]", l->out);
  if (!l->options.stacks_as_text) {
    fputs(",\"stackFrames\":", l->out);
    frame_tree_put(l->out, &l->frames);
  }
  fputs("}\n", l->out);
  frame_tree_clear(&l->frames);
  struct timeline_result result = {l->slices, l->arrows_left_out,
                                   l->points_left_out};
  idmap_clear(&l->ids);
  free(l->threads);
  free(l);
  return result;
}

static void line_at(struct timeline *line, uint64_t ticks) {
  struct json_timeline *l = (struct json_timeline *)line;
  uint64_t now = json_units(axis_at(&l->axis, ticks));
  l->calls++;
  if (l->window == BEFORE && now >= l->options.window.from) {
    l->now = l->options.window.from;
    begin_window(l);
  }
  if (l->window == INSIDE && now > l->options.window.to) {
    l->now = l->options.window.to;
    end_window(l);
  }
  l->now = now;
}

static void line_create(struct timeline *line, uint64_t g, uint64_t by,
                        uint64_t start_stack) {
  struct json_timeline *l = (struct json_timeline *)line;
  struct thread *t = thread_of(l, g);
  const struct trace_frame *frames;
  if (trace_stack(l->axis.trace, start_stack, &frames))
    t->name = short_name(trace_string(l->axis.trace, frames[0].function));
  t->arrow = (struct arrow){by != 0, "create", by, l->now};
}

static void line_state(struct timeline *line, uint64_t g,
                       enum thread_state state, struct trace_text reason,
                       uint64_t stack) {
  struct json_timeline *l = (struct json_timeline *)line;
  struct thread *t = thread_of(l, g);
  const uint64_t from = l->now > t->start ? l->now : t->start;
  end_state(l, t, from);
  t->state = state;
  t->reason = reason;
  t->lock = state == THREAD_BLOCKED ? t->next_lock : TEXT("");
  t->next_lock = TEXT("");
  t->stack = stack_of(l, stack);
  t->waker = 0;
  t->waker_stack = 0;
  if (state == THREAD_RUNNING && t->arrow.pending) {
    t->arrow.pending = false;
    if (l->window == INSIDE)
      draw_arrow(l, t, from);
  }
  if (state == THREAD_ABSENT)
    while (t->region_count)
      end_region(l, t, ++t->start);
}

static void line_unblock(struct timeline *line, uint64_t g, uint64_t by,
                         uint64_t stack) {
  struct json_timeline *l = (struct json_timeline *)line;
  if (by)
    // Add the waker before looking up t, because adding a thread may move the
    // array into which t points.
    thread_of(l, by);
  struct thread *t = thread_of(l, g);
  t->waker = by;
  t->waker_stack = stack_of(l, stack);
  line_state(line, g, THREAD_RUNNABLE, TEXT(""), 0);
  t->arrow = (struct arrow){by != 0 && by != g, "wake", by, l->now};
}

static void line_kernel_thread(struct timeline *line, uint64_t g, uint64_t m) {
  struct json_timeline *l = (struct json_timeline *)line;
  struct thread *t = thread_of(l, g);
  t->migrates |= t->m != TRACE_NONE && t->m != m;
  t->m = m;
}

static void line_name(struct timeline *line, uint64_t g,
                      struct trace_text name) {
  struct json_timeline *l = (struct json_timeline *)line;
  thread_of(l, g)->name = name;
}

static void line_lock(struct timeline *line, uint64_t g, struct trace_text name,
                      uint64_t number) {
  (void)number;
  struct json_timeline *l = (struct json_timeline *)line;
  thread_of(l, g)->next_lock = name;
}

static void line_label(struct timeline *line, uint64_t g,
                       struct trace_text label) {
  struct json_timeline *l = (struct json_timeline *)line;
  struct thread *t = thread_of(l, g);
  cut_state(l, t);
  t->label = label;
}

// Slices inside a region begin one unit later than the region. If both began at
// the same time, chrome://tracing would show the slice that is first in the
// file as the outer slice. The slice of the state would be first, because this
// slice ends and is written before the slice of the region. Slices inside a
// region also end one unit before the region. Perfetto truncates the start and
// the length of a slice to nanoseconds, so otherwise a slice could seem to end
// after the region around it.
static void line_region_begin(struct timeline *line, uint64_t g,
                              struct trace_text name, uint64_t task,
                              uint64_t stack) {
  struct json_timeline *l = (struct json_timeline *)line;
  struct thread *t = thread_of(l, g);
  uint64_t start = cut_state(l, t);
  t->start = start + 1;
  *APPEND(t->regions, t->region_count, t->region_capacity) =
      (struct open_region){name, start, task, stack_of(l, stack)};
}

static void line_region_end(struct timeline *line, uint64_t g) {
  struct json_timeline *l = (struct json_timeline *)line;
  struct thread *t = thread_of(l, g);
  // Ignore the end of a region that began before the trace.
  if (!t->region_count)
    return;
  cut_state(l, t);
  t->start = row_now(l, t) + 1;
  end_region(l, t, t->start);
}

static void line_instant(struct timeline *line, uint64_t g,
                         const char *category, struct trace_text name,
                         struct trace_text value, uint64_t stack) {
  struct json_timeline *l = (struct json_timeline *)line;
  if (l->window != INSIDE)
    return;
  if (strcmp(category, "call") == 0 && !has_room(l)) {
    l->points_left_out++;
    return;
  }
  l->points++;
  json_head(l->out, 'i', g, l->now);
  fprintf(l->out, ",\"s\":\"t\",\"cat\":\"%s\",", category);
  json_text(l->out, "name", name);
  uint32_t number = stack_of(l, stack);
  put_stack_number(l, "sf", number);
  struct json_details d = {l->out, false};
  json_detail(&d, "value", value);
  put_stack_text(l, &d, "stack", number);
  json_end_details(&d);
  fputc('}', l->out);
}

static void line_sample(struct timeline *line, uint64_t g, uint64_t stack) {
  line_instant(line, g, "sample", TEXT("CPU sample"), TEXT(""), stack);
}

static void line_range_begin(struct timeline *line, enum range_kind kind,
                             uint64_t id, struct trace_text name) {
  struct json_timeline *l = (struct json_timeline *)line;
  const size_t index = idmap_get(&l->range_ids[kind], id, l->range_count);
  if (index == l->range_count)
    *APPEND(l->ranges, l->range_count, l->range_capacity) =
        (struct range){.kind = kind, .id = id};
  struct range *r = &l->ranges[index];
  if (r->open)
    return;
  r->open = true;
  r->name = name;
  if (l->window == INSIDE)
    put_range(l, r, 'b');
}

static void line_range_end(struct timeline *line, enum range_kind kind,
                           uint64_t id) {
  struct json_timeline *l = (struct json_timeline *)line;
  size_t index;
  if (!idmap_find(&l->range_ids[kind], id, &index) || !l->ranges[index].open)
    return;
  l->ranges[index].open = false;
  if (l->window == INSIDE)
    put_range(l, &l->ranges[index], 'e');
}

static void line_counter(struct timeline *line, enum counter_kind kind,
                         uint64_t value) {
  struct json_timeline *l = (struct json_timeline *)line;
  l->counters[kind] = (struct counter){true, value};
  if (l->window == INSIDE)
    put_counter(l, kind);
}

static const struct timeline_sink sink = {
    .at = line_at,
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
    .sample = line_sample,
    .range_begin = line_range_begin,
    .range_end = line_range_end,
    .counter = line_counter,
};
