// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The events of go 1.22 to 1.26. Each generation says again in which state
// the threads are; only what is new is taken from that.

#include "convert.h"

#include "idmap.h"
#include "internal.h"

#include <stdlib.h>

struct convert_v2 {
  struct idmap g_ids; // those that have been seen
};

static bool is_new(struct convert_v2 *v, uint64_t g) {
  size_t index;
  if (idmap_find(&v->g_ids, g, &index))
    return false;
  idmap_add(&v->g_ids, g, 0);
  return true;
}

static void status(struct converter *c, const struct trace_event *ev) {
  enum { RUNNABLE = 1, RUNNING, IN_CALL, WAITING };
  uint64_t g = ev->args[0];
  if (!is_new(c->v2, g))
    return;
  uint64_t stack = ev->type == V2_GoStatusStack ? ev->stack : 0;
  enum thread_state state = THREAD_RUNNABLE;
  struct trace_text reason = TEXT("");
  switch (ev->args[2]) {
  case RUNNING:
    state = THREAD_RUNNING;
    break;
  case IN_CALL:
    state = THREAD_IN_CALL;
    break;
  case WAITING:
    state = THREAD_BLOCKED;
    reason = TEXT("since before the trace");
    break;
  default:
    break;
  }
  if (ev->args[1] != TRACE_NONE)
    timeline_kernel_thread(c->line, g, ev->args[1]);
  timeline_state(c->line, g, state, reason, stack, TRACE_NONE);
}

static void create(struct converter *c, const struct trace_event *ev,
                   enum thread_state state) {
  is_new(c->v2, ev->args[0]);
  timeline_create(c->line, ev->args[0], ev->g,
                  ev->type == V2_GoCreateSyscall ? 0 : ev->args[1]);
  timeline_state(c->line, ev->args[0], state, TEXT(""), 0, TRACE_NONE);
}

static void start(struct converter *c, const struct trace_event *ev,
                  uint64_t g) {
  timeline_kernel_thread(c->line, g, ev->m);
  timeline_state(c->line, g, THREAD_RUNNING, TEXT(""), 0, TRACE_NONE);
}

static void own_state(struct converter *c, const struct trace_event *ev,
                      enum thread_state state, struct trace_text reason) {
  timeline_state(c->line, ev->g, state, reason, ev->stack, TRACE_NONE);
}

void convert_v2_event(struct converter *c, const struct trace_event *ev) {
  if (!c->v2)
    c->v2 = zeroed(1, sizeof *c->v2);
  struct timeline *l = c->line;
  const uint64_t *args = ev->args;
  timeline_at(l, ev->ticks);
  switch (ev->type) {
  case V2_GoStatus:
  case V2_GoStatusStack:
    status(c, ev);
    break;
  case V2_GoCreate:
    create(c, ev, THREAD_RUNNABLE);
    break;
  case V2_GoCreateBlocked:
    create(c, ev, THREAD_BLOCKED);
    break;
  case V2_GoCreateSyscall:
    create(c, ev, THREAD_IN_CALL);
    break;
  case V2_GoStart:
    start(c, ev, args[0]);
    break;
  case V2_GoDestroy:
  case V2_GoDestroySyscall:
    own_state(c, ev, THREAD_ABSENT, TEXT(""));
    break;
  case V2_GoStop:
    own_state(c, ev, THREAD_RUNNABLE, trace_string(c->trace, args[0]));
    break;
  case V2_GoBlock:
    own_state(c, ev, THREAD_BLOCKED, trace_string(c->trace, args[0]));
    break;
  case V2_GoUnblock:
    timeline_unblock(l, args[0], ev->g, ev->stack);
    break;
  case V2_GoSwitch:
  case V2_GoSwitchDestroy:
    own_state(c, ev, ev->type == V2_GoSwitch ? THREAD_BLOCKED : THREAD_ABSENT,
              ev->type == V2_GoSwitch ? TEXT("switch") : TEXT(""));
    timeline_unblock(l, args[0], ev->g, 0);
    start(c, ev, args[0]);
    break;
  case V2_GoSyscallBegin:
    own_state(c, ev, THREAD_IN_CALL, TEXT(""));
    break;
  case V2_GoSyscallEnd:
    own_state(c, ev, THREAD_RUNNING, TEXT(""));
    break;
  case V2_GoSyscallEndBlocked:
    own_state(c, ev, THREAD_RUNNABLE, TEXT(""));
    break;
  case V2_HeapAlloc:
    timeline_counter(l, COUNTER_HEAP, args[0]);
    break;
  case V2_HeapGoal:
    timeline_counter(l, COUNTER_GOAL, args[0]);
    break;
  case V2_GoLabel:
    timeline_label(l, ev->g, trace_string(c->trace, args[0]));
    break;
  case V2_GCActive:
  case V2_GCBegin:
    timeline_range_begin(l, RANGE_COLLECTION, 0, TEXT(""));
    break;
  case V2_GCEnd:
    timeline_range_end(l, RANGE_COLLECTION, 0);
    break;
  case V2_STWBegin:
    timeline_range_begin(l, RANGE_STOP, ev->g, TEXT(""));
    break;
  case V2_STWEnd:
    timeline_range_end(l, RANGE_STOP, ev->g);
    break;
  case V2_GCSweepBegin:
    timeline_range_begin(l, RANGE_SWEEP, ev->p, TEXT(""));
    break;
  case V2_GCSweepActive:
    timeline_range_begin(l, RANGE_SWEEP, args[0], TEXT(""));
    break;
  case V2_GCSweepEnd:
    timeline_range_end(l, RANGE_SWEEP, ev->p);
    break;
  case V2_GCMarkAssistBegin:
    timeline_range_begin(l, RANGE_ASSIST, ev->g, TEXT(""));
    break;
  case V2_GCMarkAssistActive:
    timeline_range_begin(l, RANGE_ASSIST, args[0], TEXT(""));
    break;
  case V2_GCMarkAssistEnd:
    timeline_range_end(l, RANGE_ASSIST, ev->g);
    break;
  case V2_UserTaskBegin:
    timeline_range_begin(l, RANGE_TASK, args[0],
                         trace_string(c->trace, args[2]));
    break;
  case V2_UserTaskEnd:
    timeline_range_end(l, RANGE_TASK, args[0]);
    break;
  case V2_UserRegionBegin:
    timeline_region_begin(l, ev->g, trace_string(c->trace, args[1]), args[0],
                          ev->stack);
    break;
  case V2_UserRegionEnd:
    timeline_region_end(l, ev->g);
    break;
  case V2_UserLog:
    convert_log(c, ev, trace_string(c->trace, args[1]),
                trace_string(c->trace, args[2]));
    break;
  case V2_CPUSample:
    timeline_instant(l, ev->g, "sample", TEXT("CPU sample"), TEXT(""),
                     ev->stack, ev->ticks);
    break;
  default:
    break;
  }
}

void convert_v2_end(struct converter *c) {
  if (!c->v2)
    return;
  idmap_clear(&c->v2->g_ids);
  free(c->v2);
}
