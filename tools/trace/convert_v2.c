// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the events of Go's trace formats 1.22 to 1.26 into calls of
// timeline.h.
//
// A trace consists of generations (parts of the file). Each generation begins
// with status events, which give the states of all threads. The converter uses
// a status event only if no earlier event was about the same thread.

#include "convert_v2.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "converter.h"
#include "event.h"
#include "number.h"
#include "table.h"
#include "timeline.h"
#include "trace_data.h"
#include "v2_types.h"

#include <stdlib.h>

struct convert_v2 {
  struct idmap g_ids; // ids of the threads seen so far
  // Whether the latest system call of each thread is shown as an instant.
  bool *is_short;
  size_t g_count, g_capacity;
};

// How to convert the events of one type.
struct conversion {
  void (*convert)(struct converter *c, const struct trace_event *ev,
                  const struct conversion *how);
  enum thread_state state;   // used by create_thread and set_state
  enum counter_kind counter; // used by set_counter
  enum range_kind range;     // used by begin_range and end_range
  enum {
    ID_NONE,
    ID_P,
    ID_G,
    ID_ARG
  } id; // where range_id finds the range's id
};

// Returns the thread id that the kernel gave to thread m: the low 32 bits of m.
// If the kernel reuses a thread id, MProf sets higher bits of m for the later
// thread, so that the two threads have different values of m.
static uint64_t kernel_thread(uint64_t m) { return (uint32_t)m; }

static bool is_new(struct convert_v2 *v, uint64_t g) {
  size_t index;
  if (idmap_find(&v->g_ids, g, &index))
    return false;
  idmap_add(&v->g_ids, g, v->g_count);
  *APPEND(v->is_short, v->g_count, v->g_capacity) = false;
  return true;
}

static bool *is_short_of(struct convert_v2 *v, uint64_t g) {
  size_t index = 0;
  is_new(v, g);
  idmap_find(&v->g_ids, g, &index);
  return &v->is_short[index];
}

static void own_state(struct converter *c, const struct trace_event *ev,
                      enum thread_state state, struct trace_text reason) {
  timeline_state(c->line, ev->g, state, reason, ev->stack, TRACE_NONE);
}

static void run(struct converter *c, const struct trace_event *ev, uint64_t g) {
  timeline_kernel_thread(c->line, g, kernel_thread(ev->m));
  timeline_state(c->line, g, THREAD_RUNNING, TEXT(""), 0, TRACE_NONE);
}

// --- the conversions: threads

static void convert_status(struct converter *c, const struct trace_event *ev,
                           const struct conversion *how) {
  (void)how;
  enum { RUNNABLE = 1, RUNNING, IN_CALL, WAITING, STATUSES };
  static const enum thread_state states[STATUSES] = {
      THREAD_RUNNABLE, [RUNNABLE] = THREAD_RUNNABLE, [RUNNING] = THREAD_RUNNING,
      [IN_CALL] = THREAD_IN_CALL, [WAITING] = THREAD_BLOCKED};
  uint64_t g = ev->args[0], status = ev->args[2];
  if (!is_new(c->v2, g))
    return;
  uint64_t stack = ev->type == V2_GoStatusStack ? ev->stack : 0;
  struct trace_text reason = TEXT("");
  if (status == WAITING)
    reason = TEXT("since before the trace");
  // A stack of one frame consists only of the function in which the thread
  // starts or waits. timeline_create names the thread after this function.
  const struct trace_frame *frames;
  if (trace_stack(c->trace, stack, &frames) == 1)
    timeline_create(c->line, g, 0, stack);
  if (ev->args[1] != TRACE_NONE)
    timeline_kernel_thread(c->line, g, kernel_thread(ev->args[1]));
  timeline_state(c->line, g,
                 status < STATUSES ? states[status] : THREAD_RUNNABLE, reason,
                 stack, TRACE_NONE);
}

static void create_thread(struct converter *c, const struct trace_event *ev,
                          const struct conversion *how) {
  is_new(c->v2, ev->args[0]);
  timeline_create(c->line, ev->args[0], ev->g,
                  ev->type == V2_GoCreateSyscall ? 0 : ev->args[1]);
  timeline_state(c->line, ev->args[0], how->state, TEXT(""), 0, TRACE_NONE);
}

static void start_thread(struct converter *c, const struct trace_event *ev,
                         const struct conversion *how) {
  (void)how;
  run(c, ev, ev->args[0]);
}

static void set_state(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  own_state(c, ev, how->state, TEXT(""));
}

static void stop_thread(struct converter *c, const struct trace_event *ev,
                        const struct conversion *how) {
  (void)how;
  own_state(c, ev, THREAD_RUNNABLE, trace_string(c->trace, ev->args[0]));
}

static void block_thread(struct converter *c, const struct trace_event *ev,
                         const struct conversion *how) {
  (void)how;
  struct trace_text reason = trace_string(c->trace, ev->args[0]);
  // Show the name that the formats until 1.21 have for this reason.
  if (trace_text_is(reason, "sync.(*Cond).Wait"))
    reason = TEXT("cond");
  own_state(c, ev, THREAD_BLOCKED, reason);
}

static void unblock(struct converter *c, const struct trace_event *ev,
                    const struct conversion *how) {
  (void)how;
  timeline_unblock(c->line, ev->args[0], ev->g, ev->stack);
}

static void switch_threads(struct converter *c, const struct trace_event *ev,
                           const struct conversion *how) {
  (void)how;
  if (ev->type == V2_GoSwitch)
    own_state(c, ev, THREAD_BLOCKED, TEXT("switch"));
  else
    own_state(c, ev, THREAD_ABSENT, TEXT(""));
  timeline_unblock(c->line, ev->args[0], ev->g, 0);
  run(c, ev, ev->args[0]);
}

// --- the conversions: system calls

// Returns whether the next event in the file is the GoSyscallEnd of this
// GoSyscallBegin and has the same tick. If so, the trace does not record how
// long the system call took.
static bool has_no_length(const struct converter *c,
                          const struct trace_event *ev) {
  const uint8_t *at = c->trace->data + ev->offset + 1;
  const uint8_t *end = c->trace->data + c->trace->size;
  uint64_t number;
  for (unsigned i = 0; i < 1 + ev->arg_count; i++)
    if (read_number(&at, end, &number))
      return false;
  return end - at > 1 && at[0] == V2_GoSyscallEnd && at[1] == 0;
}

static void begin_call(struct converter *c, const struct trace_event *ev,
                       const struct conversion *how) {
  (void)how;
  bool *is_short = is_short_of(c->v2, ev->g);
  *is_short = has_no_length(c, ev);
  if (*is_short)
    timeline_instant(c->line, ev->g, "call", TEXT("system call"), TEXT(""),
                     ev->stack, ev->ticks);
  else
    own_state(c, ev, THREAD_IN_CALL, TEXT(""));
}

static void end_call(struct converter *c, const struct trace_event *ev,
                     const struct conversion *how) {
  (void)how;
  if (!*is_short_of(c->v2, ev->g))
    own_state(c, ev, THREAD_RUNNING, TEXT(""));
}

// --- the conversions: counters, ranges and events of the program

static void set_counter(struct converter *c, const struct trace_event *ev,
                        const struct conversion *how) {
  timeline_counter(c->line, how->counter, ev->args[0]);
}

static void set_label(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  (void)how;
  timeline_label(c->line, ev->g, trace_string(c->trace, ev->args[0]));
}

static uint64_t range_id(const struct trace_event *ev,
                         const struct conversion *how) {
  switch (how->id) {
  case ID_P:
    return ev->p;
  case ID_G:
    return ev->g;
  case ID_ARG:
    return ev->args[0];
  case ID_NONE:
    break;
  }
  return 0;
}

static void begin_range(struct converter *c, const struct trace_event *ev,
                        const struct conversion *how) {
  struct trace_text name = TEXT("");
  if (how->range == RANGE_TASK)
    name = trace_string(c->trace, ev->args[2]);
  timeline_range_begin(c->line, how->range, range_id(ev, how), name);
}

static void end_range(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  timeline_range_end(c->line, how->range, range_id(ev, how));
}

static void begin_region(struct converter *c, const struct trace_event *ev,
                         const struct conversion *how) {
  (void)how;
  timeline_region_begin(c->line, ev->g, trace_string(c->trace, ev->args[1]),
                        ev->args[0], ev->stack);
}

static void end_region(struct converter *c, const struct trace_event *ev,
                       const struct conversion *how) {
  (void)how;
  timeline_region_end(c->line, ev->g);
}

static void convert_user_log(struct converter *c, const struct trace_event *ev,
                             const struct conversion *how) {
  (void)how;
  convert_log(c, ev, trace_string(c->trace, ev->args[1]),
              trace_string(c->trace, ev->args[2]));
}

static void convert_sample(struct converter *c, const struct trace_event *ev,
                           const struct conversion *how) {
  (void)how;
  timeline_instant(c->line, ev->g, "sample", TEXT("CPU sample"), TEXT(""),
                   ev->stack, ev->ticks);
}

// How to convert the events of each type. The timeline does not show events of
// a type without an entry.
static const struct conversion conversions[V2_COUNT] = {
    [V2_GoStatus] = {.convert = convert_status},
    [V2_GoStatusStack] = {.convert = convert_status},
    [V2_GoCreate] = {.convert = create_thread, .state = THREAD_RUNNABLE},
    [V2_GoCreateBlocked] = {.convert = create_thread, .state = THREAD_BLOCKED},
    [V2_GoCreateSyscall] = {.convert = create_thread, .state = THREAD_IN_CALL},
    [V2_GoStart] = {.convert = start_thread},
    [V2_GoDestroy] = {.convert = set_state, .state = THREAD_ABSENT},
    [V2_GoDestroySyscall] = {.convert = set_state, .state = THREAD_ABSENT},
    [V2_GoStop] = {.convert = stop_thread},
    [V2_GoBlock] = {.convert = block_thread},
    [V2_GoUnblock] = {.convert = unblock},
    [V2_GoSwitch] = {.convert = switch_threads},
    [V2_GoSwitchDestroy] = {.convert = switch_threads},
    [V2_GoSyscallBegin] = {.convert = begin_call},
    [V2_GoSyscallEnd] = {.convert = end_call},
    [V2_GoSyscallEndBlocked] = {.convert = set_state, .state = THREAD_RUNNABLE},
    [V2_HeapAlloc] = {.convert = set_counter, .counter = COUNTER_HEAP},
    [V2_HeapGoal] = {.convert = set_counter, .counter = COUNTER_GOAL},
    [V2_GoLabel] = {.convert = set_label},
    [V2_GCActive] = {.convert = begin_range, .range = RANGE_COLLECTION},
    [V2_GCBegin] = {.convert = begin_range, .range = RANGE_COLLECTION},
    [V2_GCEnd] = {.convert = end_range, .range = RANGE_COLLECTION},
    [V2_STWBegin] = {.convert = begin_range, .range = RANGE_STOP, .id = ID_G},
    [V2_STWEnd] = {.convert = end_range, .range = RANGE_STOP, .id = ID_G},
    [V2_GCSweepBegin] = {.convert = begin_range,
                         .range = RANGE_SWEEP,
                         .id = ID_P},
    [V2_GCSweepActive] = {.convert = begin_range,
                          .range = RANGE_SWEEP,
                          .id = ID_ARG},
    [V2_GCSweepEnd] = {.convert = end_range, .range = RANGE_SWEEP, .id = ID_P},
    [V2_GCMarkAssistBegin] = {.convert = begin_range,
                              .range = RANGE_ASSIST,
                              .id = ID_G},
    [V2_GCMarkAssistActive] = {.convert = begin_range,
                               .range = RANGE_ASSIST,
                               .id = ID_ARG},
    [V2_GCMarkAssistEnd] = {.convert = end_range,
                            .range = RANGE_ASSIST,
                            .id = ID_G},
    [V2_UserTaskBegin] = {.convert = begin_range,
                          .range = RANGE_TASK,
                          .id = ID_ARG},
    [V2_UserTaskEnd] = {.convert = end_range,
                        .range = RANGE_TASK,
                        .id = ID_ARG},
    [V2_UserRegionBegin] = {.convert = begin_region},
    [V2_UserRegionEnd] = {.convert = end_region},
    [V2_UserLog] = {.convert = convert_user_log},
    [V2_CPUSample] = {.convert = convert_sample},
};

void convert_v2_event(struct converter *c, const struct trace_event *ev) {
  if (!c->v2)
    c->v2 = zeroed(1, sizeof *c->v2);
  timeline_at(c->line, ev->ticks);
  const struct conversion *how = &conversions[ev->type];
  if (how->convert)
    how->convert(c, ev, how);
}

void convert_v2_end(struct converter *c) {
  if (!c->v2)
    return;
  free(c->v2->is_short);
  idmap_clear(&c->v2->g_ids);
  free(c->v2);
}
