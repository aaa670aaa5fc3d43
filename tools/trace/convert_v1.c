// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The events of go 1.5 to 1.21.
//
// A system call that did not block is one GoSysCall, and takes no time that
// the trace knows: an instant. One that blocked is GoSysCall, GoSysBlock and
// GoSysExit. Which it is shows the thread's next event, so the call is held
// back until then.

#include "convert.h"

#include "idmap.h"
#include "internal.h"

#include <stdlib.h>

struct call {
  bool held;
  uint64_t ticks, stack;
};

struct convert_v1 {
  struct idmap p_ids, g_ids;
  uint64_t *ms; // kernel thread of a P
  size_t p_count, p_capacity;
  struct call *calls; // of a G
  size_t g_count, g_capacity;
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

static void proc_start(struct convert_v1 *v, const struct trace_event *ev) {
  size_t index;
  if (!idmap_find(&v->p_ids, ev->p, &index)) {
    index = v->p_count;
    idmap_add(&v->p_ids, ev->p, index);
    APPEND(v->ms, v->p_count, v->p_capacity);
  }
  v->ms[index] = ev->args[0];
}

static struct trace_text reason_of(unsigned type) {
  switch (type) {
  case V1_GoSleep:
    return TEXT("sleep");
  case V1_GoBlockSend:
    return TEXT("send");
  case V1_GoBlockRecv:
    return TEXT("receive");
  case V1_GoBlockSelect:
    return TEXT("select");
  case V1_GoBlockSync:
    return TEXT("sync");
  case V1_GoBlockCond:
    return TEXT("cond");
  case V1_GoBlockNet:
    return TEXT("network");
  case V1_GoBlockGC:
    return TEXT("collector");
  case V1_GoPreempt:
    return TEXT("preempted");
  case V1_GoSched:
    return TEXT("yielded");
  case V1_GoWaiting:
    return TEXT("since before the trace");
  default:
    return TEXT("");
  }
}

// Until 1.9, each P stopped the world for itself.
static uint64_t stop_id(const struct converter *c,
                        const struct trace_event *ev) {
  return trace_minor(c->trace) < 10 ? ev->p : 0;
}

static void start(struct converter *c, const struct trace_event *ev) {
  size_t index;
  if (idmap_find(&c->v1->p_ids, ev->p, &index))
    timeline_kernel_thread(c->line, ev->g, c->v1->ms[index]);
  if (ev->type == V1_GoStartLabel)
    timeline_label(c->line, ev->g, trace_string(c->trace, ev->args[2]));
  timeline_state(c->line, ev->g, THREAD_RUNNING, TEXT(""), 0, TRACE_NONE);
}

// Whatever the thread does next but GoSysBlock ends its call.
static void end_call(struct converter *c, const struct trace_event *ev) {
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
  struct timeline *l = c->line;
  const uint64_t *args = ev->args;
  if (ev->g && ev->type != V1_CPUSample)
    end_call(c, ev);
  timeline_at(l, ev->ticks);
  switch (ev->type) {
  case V1_ProcStart:
    proc_start(c->v1, ev);
    break;
  case V1_GoCreate:
    timeline_create(l, args[0], ev->g,
                    trace_minor(c->trace) >= 7 ? args[1] : 0);
    timeline_state(l, args[0], THREAD_RUNNABLE, TEXT(""), 0, TRACE_NONE);
    break;
  case V1_GoStart:
  case V1_GoStartLabel:
    start(c, ev);
    break;
  case V1_GoEnd:
  case V1_GoStop:
    timeline_state(l, ev->g, THREAD_ABSENT, TEXT(""), 0, TRACE_NONE);
    break;
  case V1_GoSched:
  case V1_GoPreempt:
    timeline_state(l, ev->g, THREAD_RUNNABLE, reason_of(ev->type), ev->stack,
                   TRACE_NONE);
    break;
  case V1_GoWaiting:
  V1_WAIT_CASES:
    timeline_state(l, ev->g, THREAD_BLOCKED, reason_of(ev->type), ev->stack,
                   TRACE_NONE);
    break;
  case V1_GoInSyscall:
    timeline_state(l, ev->g, THREAD_IN_CALL, TEXT(""), 0, TRACE_NONE);
    break;
  case V1_GoSysCall:
    *call_of(c->v1, ev->g) = (struct call){true, ev->ticks, ev->stack};
    break;
  case V1_GoSysBlock: {
    struct call *call = call_of(c->v1, ev->g);
    timeline_state(l, ev->g, THREAD_IN_CALL, TEXT(""),
                   call->held ? call->stack : 0,
                   call->held ? call->ticks : TRACE_NONE);
    call->held = false;
    break;
  }
  case V1_GoSysExit:
    timeline_state(l, ev->g, THREAD_RUNNABLE, TEXT(""), 0,
                   args[2] && trace_minor(c->trace) >= 7 ? args[2]
                                                         : TRACE_NONE);
    break;
  case V1_GoUnblock:
    timeline_unblock(l, args[0], ev->g, ev->stack);
    break;
  case V1_HeapAlloc:
    timeline_counter(l, COUNTER_HEAP, args[0]);
    break;
  case V1_HeapGoal:
    timeline_counter(l, COUNTER_GOAL, args[0]);
    break;
  case V1_GCStart:
    timeline_range_begin(l, RANGE_COLLECTION, 0, TEXT(""));
    break;
  case V1_GCDone:
    timeline_range_end(l, RANGE_COLLECTION, 0);
    break;
  case V1_STWStart:
    timeline_range_begin(l, RANGE_STOP, stop_id(c, ev), TEXT(""));
    break;
  case V1_STWDone:
    timeline_range_end(l, RANGE_STOP, stop_id(c, ev));
    break;
  case V1_GCSweepStart:
    timeline_range_begin(l, RANGE_SWEEP, ev->p, TEXT(""));
    break;
  case V1_GCSweepDone:
    timeline_range_end(l, RANGE_SWEEP, ev->p);
    break;
  case V1_GCMarkAssistStart:
    timeline_range_begin(l, RANGE_ASSIST, ev->g, TEXT(""));
    break;
  case V1_GCMarkAssistDone:
    timeline_range_end(l, RANGE_ASSIST, ev->g);
    break;
  case V1_UserTaskCreate:
    timeline_range_begin(l, RANGE_TASK, args[0],
                         trace_string(c->trace, args[2]));
    break;
  case V1_UserTaskEnd:
    timeline_range_end(l, RANGE_TASK, args[0]);
    break;
  case V1_UserRegion:
    if (args[1] == 0)
      timeline_region_begin(l, ev->g, trace_string(c->trace, args[2]), args[0],
                            ev->stack);
    else
      timeline_region_end(l, ev->g);
    break;
  case V1_UserLog:
    convert_log(c, ev, trace_string(c->trace, args[1]), ev->text);
    break;
  case V1_CPUSample:
    timeline_instant(l, ev->g, "sample", TEXT("CPU sample"), TEXT(""),
                     ev->stack, ev->ticks);
    break;
  default:
    break;
  }
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
