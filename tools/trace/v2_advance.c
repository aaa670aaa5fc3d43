// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether an event of Go's trace formats 1.22 and later can come next
// in the merged order. event.h explains G, P and M.
//
// v2_advance tests two kinds of conditions. The first kind is about the event's
// sequence number and about the G or the P in the event's arguments. If such a
// condition does not hold, the event has to wait, because events of other
// threads may have to come first.
//
// The second kind is about the G and the P of the event's own thread. No event
// of another thread can make such a condition true. So if the condition does
// not hold, the event is a violation. After a violation, the event is applied
// as if it were right.

#include "v2_advance.h"

#include "event.h"
#include "v2_call.h"
#include "v2_proc.h"
#include "v2_range.h"
#include "v2_scan.h"
#include "v2_state.h"
#include "v2_thread.h"
#include "v2_types.h"

static void counter(struct v2_state *s, const struct trace_event *ev) {
  v2_check_context(s, ev, MUST, MAY);
}

static void of_running_thread(struct v2_state *s,
                              const struct trace_event *ev) {
  v2_check_context(s, ev, MUST, MUST);
}

// The functions for each event type. is_ready returns whether the event can
// come next; NULL: the event can always come next. apply checks the event and
// updates the states; NULL: of_running_thread is called instead.
static const struct {
  bool (*is_ready)(struct v2_state *s, const struct trace_event *ev);
  void (*apply)(struct v2_state *s, const struct trace_event *ev);
} events[V2_COUNT] = {
    [V2_ProcStatus] = {NULL, v2_proc_status},
    [V2_ProcStart] = {v2_can_start_proc, v2_proc_start},
    [V2_ProcStop] = {NULL, v2_proc_stop},
    [V2_ProcSteal] = {v2_can_steal, v2_proc_steal},
    [V2_GoStatus] = {NULL, v2_go_status},
    [V2_GoStatusStack] = {NULL, v2_go_status},
    [V2_GoCreate] = {NULL, v2_go_create},
    [V2_GoCreateBlocked] = {NULL, v2_go_create},
    [V2_GoCreateSyscall] = {NULL, v2_go_create},
    [V2_GoStart] = {v2_can_take_runnable, v2_go_start},
    [V2_GoDestroy] = {NULL, v2_go_stop},
    [V2_GoStop] = {NULL, v2_go_stop},
    [V2_GoBlock] = {NULL, v2_go_stop},
    [V2_GoDestroySyscall] = {NULL, v2_destroy_in_call},
    [V2_GoUnblock] = {v2_can_take_waiting, v2_go_unblock},
    [V2_GoSwitch] = {v2_can_take_waiting, v2_go_switch},
    [V2_GoSwitchDestroy] = {v2_can_take_waiting, v2_go_switch},
    [V2_GoSyscallBegin] = {NULL, v2_call_begin},
    [V2_GoSyscallEnd] = {NULL, v2_call_end},
    [V2_GoSyscallEndBlocked] = {v2_can_end_blocked, v2_call_end_blocked},
    [V2_STWBegin] = {NULL, v2_stop_or_assist},
    [V2_STWEnd] = {NULL, v2_stop_or_assist},
    [V2_GCMarkAssistBegin] = {NULL, v2_stop_or_assist},
    [V2_GCMarkAssistEnd] = {NULL, v2_stop_or_assist},
    [V2_GCMarkAssistActive] = {NULL, v2_assist_active},
    [V2_GCActive] = {v2_is_next_collection, v2_collection},
    [V2_GCBegin] = {v2_is_next_collection, v2_collection},
    [V2_GCEnd] = {v2_is_next_collection, v2_collection},
    [V2_GCSweepBegin] = {NULL, v2_sweep},
    [V2_GCSweepEnd] = {NULL, v2_sweep},
    [V2_GCSweepActive] = {NULL, v2_sweep_active},
    [V2_HeapAlloc] = {NULL, counter},
    [V2_HeapGoal] = {NULL, counter},
    [V2_UserTaskBegin] = {NULL, v2_task_begin},
    [V2_UserTaskEnd] = {NULL, v2_task_end},
    [V2_UserRegionBegin] = {NULL, v2_region},
    [V2_UserRegionEnd] = {NULL, v2_region},
};

bool v2_advance(struct v2_state *s, struct trace_event *ev) {
  if (events[ev->type].is_ready && !events[ev->type].is_ready(s, ev))
    return false;
  const struct m_state *m = v2_m_of(s, ev->m);
  ev->p = m->p;
  ev->g = m->g == TRACE_NONE ? 0 : m->g;
  if (events[ev->type].apply)
    events[ev->type].apply(s, ev);
  else
    of_running_thread(s, ev);
  v2_check_ids(s->trace, ev);
  return true;
}
