// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the events of Go's trace formats 1.5 to 1.21 into calls of
// timeline.h.
//
// A system call that did not block is a single GoSysCall event. The trace does
// not record the length of this call, so the timeline shows the call as an
// instant. A system call that blocked consists of GoSysCall, GoSysBlock and
// later GoSysExit. Only the next event of the same thread shows whether the
// call blocked. So the converter keeps each GoSysCall until the next event of
// its thread.

#include "convert_v1.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "converter.h"
#include "event.h"
#include "table.h"
#include "timeline.h"
#include "trace.h"
#include "v1_types.h"

#include <stdlib.h>

struct call {
  bool held; // a GoSysCall of the thread is kept and not yet converted
  uint64_t ticks, stack;
};

struct convert_v1 {
  struct idmap p_ids, g_ids;
  uint64_t *ms; // kernel thread of each P, by its index in p_ids
  size_t p_count, p_capacity;
  struct call *calls; // latest system call of each G, by its index in g_ids
  size_t g_count, g_capacity;
};

// How to convert the events of one type.
struct conversion {
  void (*convert)(struct converter *c, const struct trace_event *ev,
                  const struct conversion *how);
  enum thread_state state;   // used by set_state
  const char *reason;        // used by set_state; NULL: no reason
  enum counter_kind counter; // used by set_counter
  enum range_kind range;     // used by begin_range and end_range
  // Where range_id finds the id of the range.
  enum { ID_NONE, ID_STOP, ID_P, ID_G, ID_TASK } id;
};

static struct call *call_of(struct convert_v1 *v, uint64_t g) {
  size_t index;
  if (!idmap_find(&v->g_ids, g, &index)) {
    index = v->g_count;
    idmap_add(&v->g_ids, g, index);
    *APPEND(v->calls, v->g_count, v->g_capacity) = (struct call){0};
  }
  return &v->calls[index];
}

// --- the conversions

static void start_proc(struct converter *c, const struct trace_event *ev,
                       const struct conversion *how) {
  (void)how;
  struct convert_v1 *v = c->v1;
  size_t index;
  if (!idmap_find(&v->p_ids, ev->p, &index)) {
    index = v->p_count;
    idmap_add(&v->p_ids, ev->p, index);
    APPEND(v->ms, v->p_count, v->p_capacity);
  }
  v->ms[index] = ev->args[0];
}

static void create_thread(struct converter *c, const struct trace_event *ev,
                          const struct conversion *how) {
  (void)how;
  // In format 1.5, the second argument is a program counter, not a stack id.
  uint64_t stack = trace_minor(c->trace) >= 7 ? ev->args[1] : 0;
  timeline_create(c->line, ev->args[0], ev->g, stack);
  timeline_state(c->line, ev->args[0], THREAD_RUNNABLE, TEXT(""), 0,
                 TRACE_NONE);
}

static void start_thread(struct converter *c, const struct trace_event *ev,
                         const struct conversion *how) {
  (void)how;
  size_t index;
  if (idmap_find(&c->v1->p_ids, ev->p, &index))
    timeline_kernel_thread(c->line, ev->g, c->v1->ms[index]);
  if (ev->type == V1_GoStartLabel)
    timeline_label(c->line, ev->g, trace_string(c->trace, ev->args[2]));
  timeline_state(c->line, ev->g, THREAD_RUNNING, TEXT(""), 0, TRACE_NONE);
}

static void set_state(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  struct trace_text reason = trace_text_of(how->reason ? how->reason : "");
  timeline_state(c->line, ev->g, how->state, reason, ev->stack, TRACE_NONE);
}

static void unblock(struct converter *c, const struct trace_event *ev,
                    const struct conversion *how) {
  (void)how;
  timeline_unblock(c->line, ev->args[0], ev->g, ev->stack);
}

static void hold_call(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  (void)how;
  *call_of(c->v1, ev->g) = (struct call){true, ev->ticks, ev->stack};
}

// Begins the state THREAD_IN_CALL at the time of the GoSysCall that hold_call
// has kept. If no GoSysCall is kept, begins the state at the current time.
static void block_in_call(struct converter *c, const struct trace_event *ev,
                          const struct conversion *how) {
  (void)how;
  struct call *call = call_of(c->v1, ev->g);
  timeline_state(c->line, ev->g, THREAD_IN_CALL, TEXT(""),
                 call->held ? call->stack : 0,
                 call->held ? call->ticks : TRACE_NONE);
  call->held = false;
}

static void exit_call(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  (void)how;
  uint64_t real = trace_minor(c->trace) >= 7 ? ev->args[2] : 0;
  timeline_state(c->line, ev->g, THREAD_RUNNABLE, TEXT(""), 0,
                 real ? real : TRACE_NONE);
}

static void set_counter(struct converter *c, const struct trace_event *ev,
                        const struct conversion *how) {
  timeline_counter(c->line, how->counter, ev->args[0]);
}

static uint64_t range_id(const struct converter *c,
                         const struct trace_event *ev,
                         const struct conversion *how) {
  switch (how->id) {
  case ID_STOP:
    // Until format 1.9, each P can have its own open stop of the world, so the
    // id is the P. Since 1.10, only one stop can be open.
    return trace_minor(c->trace) < 10 ? ev->p : 0;
  case ID_P:
    return ev->p;
  case ID_G:
    return ev->g;
  case ID_TASK:
    return ev->args[0];
  case ID_NONE:
    break;
  }
  return 0;
}

static void begin_range(struct converter *c, const struct trace_event *ev,
                        const struct conversion *how) {
  struct trace_text name = TEXT("");
  if (how->id == ID_TASK)
    name = trace_string(c->trace, ev->args[2]);
  timeline_range_begin(c->line, how->range, range_id(c, ev, how), name);
}

static void end_range(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  timeline_range_end(c->line, how->range, range_id(c, ev, how));
}

static void convert_region(struct converter *c, const struct trace_event *ev,
                           const struct conversion *how) {
  (void)how;
  if (ev->args[1] == 0)
    timeline_region_begin(c->line, ev->g, trace_string(c->trace, ev->args[2]),
                          ev->args[0], ev->stack);
  else
    timeline_region_end(c->line, ev->g);
}

static void convert_user_log(struct converter *c, const struct trace_event *ev,
                             const struct conversion *how) {
  (void)how;
  convert_log(c, ev, trace_string(c->trace, ev->args[1]), ev->text);
}

static void convert_sample(struct converter *c, const struct trace_event *ev,
                           const struct conversion *how) {
  (void)how;
  timeline_instant(c->line, ev->g, "sample", TEXT("CPU sample"), TEXT(""),
                   ev->stack, ev->ticks);
}

// How to convert the events of each type. The timeline does not show events of
// a type without an entry.
static const struct conversion conversions[V1_COUNT] = {
    [V1_ProcStart] = {.convert = start_proc},
    [V1_GoCreate] = {.convert = create_thread},
    [V1_GoStart] = {.convert = start_thread},
    [V1_GoStartLabel] = {.convert = start_thread},
    [V1_GoEnd] = {.convert = set_state, .state = THREAD_ABSENT},
    [V1_GoStop] = {.convert = set_state, .state = THREAD_ABSENT},
    [V1_GoSched] = {.convert = set_state,
                    .state = THREAD_RUNNABLE,
                    .reason = "yielded"},
    [V1_GoPreempt] = {.convert = set_state,
                      .state = THREAD_RUNNABLE,
                      .reason = "preempted"},
    [V1_GoWaiting] = {.convert = set_state,
                      .state = THREAD_BLOCKED,
                      .reason = "since before the trace"},
    [V1_GoSleep] = {.convert = set_state,
                    .state = THREAD_BLOCKED,
                    .reason = "sleep"},
    [V1_GoBlock] = {.convert = set_state, .state = THREAD_BLOCKED},
    [V1_GoBlockSend] = {.convert = set_state,
                        .state = THREAD_BLOCKED,
                        .reason = "send"},
    [V1_GoBlockRecv] = {.convert = set_state,
                        .state = THREAD_BLOCKED,
                        .reason = "receive"},
    [V1_GoBlockSelect] = {.convert = set_state,
                          .state = THREAD_BLOCKED,
                          .reason = "select"},
    [V1_GoBlockSync] = {.convert = set_state,
                        .state = THREAD_BLOCKED,
                        .reason = "sync"},
    [V1_GoBlockCond] = {.convert = set_state,
                        .state = THREAD_BLOCKED,
                        .reason = "cond"},
    [V1_GoBlockNet] = {.convert = set_state,
                       .state = THREAD_BLOCKED,
                       .reason = "network"},
    [V1_GoBlockGC] = {.convert = set_state,
                      .state = THREAD_BLOCKED,
                      .reason = "collector"},
    [V1_GoInSyscall] = {.convert = set_state, .state = THREAD_IN_CALL},
    [V1_GoSysCall] = {.convert = hold_call},
    [V1_GoSysBlock] = {.convert = block_in_call},
    [V1_GoSysExit] = {.convert = exit_call},
    [V1_GoUnblock] = {.convert = unblock},
    [V1_HeapAlloc] = {.convert = set_counter, .counter = COUNTER_HEAP},
    [V1_HeapGoal] = {.convert = set_counter, .counter = COUNTER_GOAL},
    [V1_GCStart] = {.convert = begin_range, .range = RANGE_COLLECTION},
    [V1_GCDone] = {.convert = end_range, .range = RANGE_COLLECTION},
    [V1_STWStart] = {.convert = begin_range,
                     .range = RANGE_STOP,
                     .id = ID_STOP},
    [V1_STWDone] = {.convert = end_range, .range = RANGE_STOP, .id = ID_STOP},
    [V1_GCSweepStart] = {.convert = begin_range,
                         .range = RANGE_SWEEP,
                         .id = ID_P},
    [V1_GCSweepDone] = {.convert = end_range, .range = RANGE_SWEEP, .id = ID_P},
    [V1_GCMarkAssistStart] = {.convert = begin_range,
                              .range = RANGE_ASSIST,
                              .id = ID_G},
    [V1_GCMarkAssistDone] = {.convert = end_range,
                             .range = RANGE_ASSIST,
                             .id = ID_G},
    [V1_UserTaskCreate] = {.convert = begin_range,
                           .range = RANGE_TASK,
                           .id = ID_TASK},
    [V1_UserTaskEnd] = {.convert = end_range,
                        .range = RANGE_TASK,
                        .id = ID_TASK},
    [V1_UserRegion] = {.convert = convert_region},
    [V1_UserLog] = {.convert = convert_user_log},
    [V1_CPUSample] = {.convert = convert_sample},
};

// Converts the GoSysCall that hold_call has kept for thread ev->g to an
// instant. Does nothing if no GoSysCall is kept, or if ev is the GoSysBlock of
// the same system call.
static void release_call(struct converter *c, const struct trace_event *ev) {
  struct call *call = call_of(c->v1, ev->g);
  if (!call->held || ev->type == V1_GoSysBlock)
    return;
  call->held = false;
  timeline_instant(c->line, ev->g, "call", TEXT("system call"), TEXT(""),
                   call->stack, call->ticks);
}

void convert_v1_event(struct converter *c, const struct trace_event *ev) {
  if (!c->v1)
    c->v1 = zeroed(1, sizeof *c->v1);
  if (ev->g && ev->type != V1_CPUSample)
    release_call(c, ev);
  timeline_at(c->line, ev->ticks);
  const struct conversion *how = &conversions[ev->type];
  if (how->convert)
    how->convert(c, ev, how);
}

void convert_v1_end(struct converter *c) {
  struct convert_v1 *v = c->v1;
  if (!v)
    return;
  idmap_clear(&v->p_ids);
  idmap_clear(&v->g_ids);
  free(v->ms);
  free(v->calls);
  free(v);
}
