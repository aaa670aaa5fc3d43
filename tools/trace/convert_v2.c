// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The events of go 1.22 to 1.26. Each generation says again in which state
// the threads are; only what is new is taken from that.

#include "convert.h"

#include "idmap.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct convert_v2 {
  struct idmap g_ids; // those that have been seen
  bool *is_short;     // whether the system call that they are in is
  size_t g_count, g_capacity;
};

// The kernel's number of an M; one that has it after another has more bits.
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
  // Where it waits, or that it has only begun.
  const struct trace_frame *frames;
  if (trace_stack(c->trace, stack, &frames) == 1)
    timeline_create(c->line, g, 0, stack);
  if (ev->args[1] != TRACE_NONE)
    timeline_kernel_thread(c->line, g, kernel_thread(ev->args[1]));
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
  timeline_kernel_thread(c->line, g, kernel_thread(ev->m));
  timeline_state(c->line, g, THREAD_RUNNING, TEXT(""), 0, TRACE_NONE);
}

static void own_state(struct converter *c, const struct trace_event *ev,
                      enum thread_state state, struct trace_text reason) {
  timeline_state(c->line, ev->g, state, reason, ev->stack, TRACE_NONE);
}

// One that ends at once has no length that the trace knows: the next event of
// its batch is its end, at the same time.
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

static void call_begin(struct converter *c, const struct trace_event *ev) {
  bool *is_short = is_short_of(c->v2, ev->g);
  *is_short = has_no_length(c, ev);
  if (*is_short)
    timeline_instant(c->line, ev->g, "call", TEXT("system call"), TEXT(""),
                     ev->stack, ev->ticks);
  else
    own_state(c, ev, THREAD_IN_CALL, TEXT(""));
}

static void call_end(struct converter *c, const struct trace_event *ev) {
  if (!*is_short_of(c->v2, ev->g))
    own_state(c, ev, THREAD_RUNNING, TEXT(""));
}

// A name of Go's that older formats do not have.
static struct trace_text reason_of(struct trace_text text) {
  static const char cond[] = "sync.(*Cond).Wait";
  if (text.length == sizeof cond - 1 &&
      memcmp(text.bytes, cond, sizeof cond - 1) == 0)
    return TEXT("cond");
  return text;
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
    own_state(c, ev, THREAD_BLOCKED,
              reason_of(trace_string(c->trace, args[0])));
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
    call_begin(c, ev);
    break;
  case V2_GoSyscallEnd:
    call_end(c, ev);
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
  free(c->v2->is_short);
  idmap_clear(&c->v2->g_ids);
  free(c->v2);
}
