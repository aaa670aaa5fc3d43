// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a trace in the format of Go 1.11, which Go's tools can still read. One
// record of a thread becomes one or more events. write_trace_v1_5.c also uses
// these functions, to create its events. After the header, the file contains:
//
//   batch: row, time, events   one batch for each buffer of a row
//   stacks                     the stacks that events refer to
//   frequency                  ticks per second of the trace
//
// The first batch begins with the frequency, too, for the reader of a file
// whose program was killed. The frequency at the end is more accurate.
//
// A row is the list of one thread's buffers. A string is written anywhere
// before the first event or stack that refers to it.

#include "trace/write_trace_v1.h"

#include "trace/trace_buf.h"
#include "trace/trace_format.h"
#include "trace/trace_records.h"
#include "trace/trace_types.h"
#include "trace/write_trace.h"
#include "trace_hooks/trace_hooks.h"

#include <string.h>

#define ARGS_MAX 6

// --- events of a record ---

static uint64_t stack(struct mprof_trace_writer *w, uint64_t handle) {
  return mprof_trace_stack_number(w, handle);
}

// Writes the event with the number of processors, if the file does not have it
// yet. If a thread appears in the file before this event, readers assume that
// the thread existed when the trace began. The event is written twice, because
// Go 1.22 and later take the number only from a second event. Without the
// number, the view of mutator utilization in Go's tools fails.
static void put_processors(struct mprof_trace_writer *w,
                           struct mprof_trace_written *to) {
  for (int i = 0; i < 2 && to->is_first; i++)
    EVENT(w, EV_GOMAXPROCS, 0, w->processors, 0);
  to->is_first = false;
}

static void put_begin(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, uint64_t ticks,
                      const struct mprof_trace_record *r) {
  const uint64_t g = r->n[0], tid = r->n[1];
  const enum mprof_trace_from from = (enum mprof_trace_from)r->n[2];
  uint64_t seq = 1;
  if (from == MPROF_TRACE_FROM_UNKNOWN) {
    EVENT(w, EV_GO_CREATE, ticks, g, mprof_trace_start_number(w, r->n[3], tid),
          0);
    ticks = 0;
  }
  EVENT(w, EV_PROC_START, ticks, tid);
  if (from == MPROF_TRACE_FROM_WAIT)
    return;
  if (from == MPROF_TRACE_FROM_WAITING) {
    EVENT(w, EV_GO_UNBLOCK, 0, g, 2, 0);
    seq = 3;
  } else if (from == MPROF_TRACE_FROM_CALL) {
    EVENT(w, EV_GO_SYS_EXIT, 0, g, 2, 0);
    seq = 3;
  }
  EVENT(w, EV_GO_START, 0, g, seq);
  put_processors(w, to);
}

static void put_pre(struct mprof_trace_writer *w,
                    struct mprof_trace_written *to, uint64_t ticks,
                    const struct mprof_trace_record *r) {
  (void)to, (void)ticks; // a PRE record has no time
  const uint64_t g = r->n[0];
  const enum mprof_trace_from from = (enum mprof_trace_from)r->n[1];
  EVENT(w, EV_GO_CREATE, 0, g, mprof_trace_start_number(w, r->n[2], r->n[3]),
        0);
  if (from == MPROF_TRACE_FROM_WAITING)
    EVENT(w, EV_GO_WAITING, 0, g);
  else if (from == MPROF_TRACE_FROM_CALL)
    EVENT(w, EV_GO_IN_SYSCALL, 0, g);
}

// A start of a thread takes the next two sequence numbers of the thread: one
// for the wake-up and one for the start.
static void put_start(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, uint64_t ticks,
                      const struct mprof_trace_record *r) {
  const struct mprof_trace_thread *t = &to->thread;
  if (r->type == MPROF_TRACE_START_SELF) {
    EVENT(w, EV_GO_UNBLOCK, ticks, t->g, t->seq + 1, stack(w, r->n[0]));
    ticks = r->n[1];
  }
  EVENT(w, EV_GO_START, ticks, t->g, t->seq + 2);
}

static void put_wake(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const struct mprof_trace_record *r) {
  (void)to;
  EVENT(w, EV_GO_UNBLOCK, ticks, r->n[1], r->n[2], stack(w, r->n[0]));
}

static void put_call(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const struct mprof_trace_record *r) {
  const struct mprof_trace_thread *t = &to->thread;
  EVENT(w, EV_GO_SYS_CALL, ticks, stack(w, r->n[0]));
  if (r->type == MPROF_TRACE_CALL)
    return;
  EVENT(w, EV_GO_SYS_BLOCK, 0);
  if (r->type == MPROF_TRACE_CALL_OPEN)
    return;
  EVENT(w, EV_GO_SYS_EXIT, r->n[1], t->g, t->seq + 1, 0);
  EVENT(w, EV_GO_START, 0, t->g, t->seq + 2);
}

static void put_log(struct mprof_trace_writer *w,
                    struct mprof_trace_written *to, uint64_t ticks,
                    const struct mprof_trace_record *r) {
  unsigned char length[10];
  (void)to;
  EVENT(w, EV_USER_LOG, ticks, r->n[0], mprof_trace_name_number(w, r->n[1]),
        stack(w, r->n[2]));
  mprof_trace_put_bytes(w, length,
                        (size_t)(mprof_trace_put(length, r->n[3]) - length));
  mprof_trace_put_bytes(w, r->text, r->n[3]);
}

// LABELS and CHARGE have no entry, because trace_records.c converts these
// records to LOG records.
static const struct mprof_trace_forms forms = {{
    [MPROF_TRACE_BEGIN] = {.put = put_begin},
    [MPROF_TRACE_END] = {.event = EV_GO_END, .then = EV_PROC_STOP},
    // Go's tracer also writes this event when a trace ends.
    [MPROF_TRACE_STOP] = {.event = EV_GO_PREEMPT},
    [MPROF_TRACE_PRE] = {.put = put_pre},
    [MPROF_TRACE_CREATE] = {.event = EV_GO_CREATE},
    [MPROF_TRACE_BLOCK_SYNC] = {.event = EV_GO_BLOCK_SYNC},
    [MPROF_TRACE_BLOCK_COND] = {.event = EV_GO_BLOCK_COND},
    [MPROF_TRACE_BLOCK_NET] = {.event = EV_GO_BLOCK_NET},
    [MPROF_TRACE_BLOCK_SELECT] = {.event = EV_GO_BLOCK_SELECT},
    [MPROF_TRACE_SLEEP] = {.event = EV_GO_SLEEP},
    [MPROF_TRACE_START] = {.put = put_start},
    [MPROF_TRACE_START_SELF] = {.put = put_start},
    [MPROF_TRACE_WAKE] = {.put = put_wake},
    [MPROF_TRACE_CALL] = {.put = put_call},
    [MPROF_TRACE_CALL_LONG] = {.put = put_call},
    [MPROF_TRACE_CALL_OPEN] = {.put = put_call},
    [MPROF_TRACE_HEAP] = {.event = EV_HEAP_ALLOC},
    [MPROF_TRACE_GC_START] = {.event = EV_GC_START},
    [MPROF_TRACE_GC_DONE] = {.event = EV_GC_DONE},
    [MPROF_TRACE_TASK] = {.event = EV_USER_TASK_CREATE},
    [MPROF_TRACE_TASK_END] = {.event = EV_USER_TASK_END},
    [MPROF_TRACE_REGION] = {.event = EV_USER_REGION},
    [MPROF_TRACE_LOG] = {.put = put_log},
}};

bool mprof_v1_record(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const struct mprof_trace_record *r) {
  return mprof_trace_put_events(w, to, ticks, r, &forms);
}

// --- the bytes of 1.11 ---

static void put_event(struct mprof_trace_writer *w, unsigned type,
                      const uint64_t *args, size_t n) {
  // The arguments are encoded first, because their length comes before them in
  // the event. The length and the type are then inserted before the arguments,
  // so that the sink gets the event in one call.
  unsigned char bytes[2 + ARGS_MAX * 10], *begin = bytes + 2, *p = begin;
  for (size_t i = 0; i < n; i++)
    p = mprof_trace_put(p, args[i]);
  const size_t extra = n - 1;
  const size_t shown = extra < EV_ARGS_COUNTED ? extra : EV_ARGS_COUNTED;
  if (shown == EV_ARGS_COUNTED) {
    const unsigned char len = (unsigned char)(p - begin);
    *--begin = len;
  }
  *--begin = (unsigned char)(type | shown << EV_ARGS_SHIFT);
  mprof_trace_put_bytes(w, begin, (size_t)(p - begin));
}

static void event(struct mprof_trace_writer *w, unsigned type,
                  const uint64_t *args, size_t n) {
  w->events++;
  put_event(w, type, args, n);
}

static void put_frequency(struct mprof_trace_writer *w) {
  put_event(w, EV_FREQUENCY, (const uint64_t[]){mprof_trace_frequency()}, 1);
}

static void begin_batch(struct mprof_trace_writer *w,
                        const struct mprof_trace_written *to, uint32_t row,
                        uint64_t ticks) {
  bool *has_frequency = w->state;
  (void)to;
  put_event(w, EV_BATCH, (const uint64_t[]){row, ticks}, 2);
  if (!*has_frequency)
    put_frequency(w);
  *has_frequency = true;
}

static void end_batch(struct mprof_trace_writer *w) { (void)w; }

static void put_string(struct mprof_trace_writer *w, uint64_t number,
                       const char *s, size_t len) {
  unsigned char head[21], *p = head;
  *p++ = EV_STRING;
  p = mprof_trace_put(p, number);
  p = mprof_trace_put(p, len);
  mprof_trace_put_bytes(w, head, (size_t)(p - head));
  mprof_trace_put_bytes(w, s, len);
}

// Begins a batch without events, because readers require a batch before the
// stacks. The stacks themselves are not part of this batch.
static void begin_stacks(struct mprof_trace_writer *w, uint64_t end_ticks) {
  begin_batch(w, NULL, 0, end_ticks);
}

static void put_stack(struct mprof_trace_writer *w, uint64_t number,
                      uint32_t handle) {
  struct mprof_trace_frames f;
  unsigned char head[16], lengths[20], *p = head, *q = lengths;
  mprof_trace_stack_frames(w, handle, &f);
  q = mprof_trace_put(q, number);
  q = mprof_trace_put(q, f.count);
  *p++ = EV_STACK | EV_ARGS_COUNTED << EV_ARGS_SHIFT;
  p = mprof_trace_put(p, (uint64_t)(q - lengths) + f.len);
  mprof_trace_put_bytes(w, head, (size_t)(p - head));
  mprof_trace_put_bytes(w, lengths, (size_t)(q - lengths));
  mprof_trace_put_bytes(w, f.bytes, f.len);
}

static void finish(struct mprof_trace_writer *w, uint64_t end_ticks) {
  (void)end_ticks;
  put_frequency(w);
}

const struct mprof_trace_format mprof_trace_format_1_11 = {
    .name = "1.11",
    .header = "go 1.11 trace\0\0",
    .streams = true,
    .has_names = true,
    .string_max = 4096,
    .state_bytes = sizeof(bool),
    .begin_batch = begin_batch,
    .end_batch = end_batch,
    .record = mprof_v1_record,
    .event = event,
    .string = put_string,
    .begin_stacks = begin_stacks,
    .stack = put_stack,
    .finish = finish};
