// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is a record in a row is one event or several in the file.
//
// A thread's events have sequence numbers, by which readers put those of
// several rows in order: each of its starts and of what makes it ready has the
// next one. A row has them in its thread's order, so they are counted here; a
// waker's row has the number from the woken thread itself.

#include "write_trace.h"

#include <string.h>

// --- a row's records ---

// Readers take what comes before it for what there was already.
static void put_processors(struct mprof_trace_writer *w,
                           struct mprof_trace_written *to) {
  if (to->is_first)
    EVENT(w, EV_GOMAXPROCS, 0, mprof_trace_processors(w), 0);
  to->is_first = false;
}

static void put_begin(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, uint64_t ticks,
                      const unsigned char **p) {
  const uint64_t g = mprof_trace_get(p), tid = mprof_trace_get(p);
  const enum mprof_trace_from from = (enum mprof_trace_from)mprof_trace_get(p);
  to->g = g;
  to->seq = 0;
  to->is_running = true;
  if (from == MPROF_TRACE_FROM_UNKNOWN) {
    EVENT(w, EV_GO_CREATE, ticks, g,
          mprof_trace_start_number(w, mprof_trace_get(p),
                                   tid == (uint64_t)mprof_sys_getpid()),
          0);
    ticks = 0;
  }
  EVENT(w, EV_PROC_START, ticks, tid);
  if (from == MPROF_TRACE_FROM_WAITING) {
    to->seq = 2;
    EVENT(w, EV_GO_UNBLOCK, 0, g, 2, 0);
  } else if (from == MPROF_TRACE_FROM_CALL) {
    to->seq = 2;
    EVENT(w, EV_GO_SYS_EXIT, 0, g, 2, 0);
  }
  EVENT(w, EV_GO_START, 0, g, ++to->seq);
  put_processors(w, to);
}

static void put_pre(struct mprof_trace_writer *w, const unsigned char **p) {
  const uint64_t g = mprof_trace_get(p);
  const enum mprof_trace_from from = (enum mprof_trace_from)mprof_trace_get(p);
  EVENT(w, EV_GO_CREATE, 0, g,
        mprof_trace_start_number(w, mprof_trace_get(p), false), 0);
  if (from == MPROF_TRACE_FROM_WAITING)
    EVENT(w, EV_GO_WAITING, 0, g);
  else if (from == MPROF_TRACE_FROM_CALL)
    EVENT(w, EV_GO_IN_SYSCALL, 0, g);
}

static void put_block(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, enum event type,
                      uint64_t ticks, const unsigned char **p) {
  to->is_running = false;
  EVENT(w, type, ticks, mprof_trace_stack_number(w, mprof_trace_get(p)));
}

static void put_start(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, uint64_t ticks,
                      bool is_self, uint64_t stack) {
  const uint64_t ready = ++to->seq;
  if (is_self) {
    EVENT(w, EV_GO_UNBLOCK, ticks, to->g, ready,
          mprof_trace_stack_number(w, stack));
    ticks = 0;
  }
  EVENT(w, EV_GO_START, ticks, to->g, ++to->seq);
  to->is_running = true;
}

// False if nobody signed it: then there is no event, and what ticks it took
// are the next one's.
static bool put_wake(struct mprof_trace_writer *w, uint64_t ticks,
                     const unsigned char **p) {
  const uint64_t stack = mprof_trace_get(p);
  *p = (const unsigned char *)(((uintptr_t)*p + 7) & ~(uintptr_t)7);
  uint64_t signed_by;
  memcpy(&signed_by, *p, sizeof(signed_by));
  *p += sizeof(signed_by);
  if (signed_by == 0)
    return false;
  EVENT(w, EV_GO_UNBLOCK, ticks, signed_by >> 32, (uint32_t)signed_by,
        mprof_trace_stack_number(w, stack));
  return true;
}

static void put_call(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const unsigned char **p, bool is_long) {
  EVENT(w, EV_GO_SYS_CALL, ticks,
        mprof_trace_stack_number(w, mprof_trace_get(p)));
  if (!is_long)
    return;
  EVENT(w, EV_GO_SYS_BLOCK, 0);
  EVENT(w, EV_GO_SYS_EXIT, mprof_trace_get(p), to->g, to->seq + 1, 0);
  to->seq += 2;
  EVENT(w, EV_GO_START, 0, to->g, to->seq);
}

static uint64_t name_of(struct mprof_trace_writer *w, uint64_t handle) {
  return mprof_trace_string_number(w, mprof_trace_name_text((uint32_t)handle));
}

static void put_log(struct mprof_trace_writer *w, uint64_t ticks,
                    const unsigned char **p) {
  unsigned char length[10];
  const uint64_t task = mprof_trace_get(p);
  const uint64_t key = name_of(w, mprof_trace_get(p));
  EVENT(w, EV_USER_LOG, ticks, task, key,
        mprof_trace_stack_number(w, mprof_trace_get(p)));
  const uint64_t len = mprof_trace_get(p);
  mprof_trace_emit_bytes(w, length,
                         (size_t)(mprof_trace_put(length, len) - length));
  mprof_trace_emit_bytes(w, *p, len);
  *p += len;
}

static void put_gc_start(struct mprof_trace_writer *w, uint64_t ticks,
                         const unsigned char **p) {
  const uint64_t number = mprof_trace_get(p);
  EVENT(w, EV_GC_START, ticks, number,
        mprof_trace_stack_number(w, mprof_trace_get(p)));
}

// One record; returns the ticks that it took and that no event had.
static uint64_t put_record(struct mprof_trace_writer *w,
                           struct mprof_trace_written *to,
                           const unsigned char **p, uint64_t before) {
  const enum mprof_trace_type type = (enum mprof_trace_type) * (*p)++;
  if (type == MPROF_TRACE_PRE) {
    put_pre(w, p);
    return before;
  }
  const uint64_t ticks = before + mprof_trace_get(p);
  switch (type) {
  case MPROF_TRACE_BEGIN:
    put_begin(w, to, ticks, p);
    break;
  case MPROF_TRACE_END:
    EVENT(w, EV_GO_END, ticks);
    EVENT(w, EV_PROC_STOP, 0);
    to->g = 0;
    to->is_running = false;
    break;
  case MPROF_TRACE_CREATE: {
    const uint64_t g = mprof_trace_get(p), start = mprof_trace_get(p);
    const uint64_t stack = mprof_trace_get(p);
    EVENT(w, EV_GO_CREATE, ticks, g, mprof_trace_start_number(w, start, false),
          mprof_trace_stack_number(w, stack));
    break;
  }
  case MPROF_TRACE_BLOCK_SYNC:
    put_block(w, to, EV_GO_BLOCK_SYNC, ticks, p);
    break;
  case MPROF_TRACE_BLOCK_COND:
    put_block(w, to, EV_GO_BLOCK_COND, ticks, p);
    break;
  case MPROF_TRACE_BLOCK_NET:
    put_block(w, to, EV_GO_BLOCK_NET, ticks, p);
    break;
  case MPROF_TRACE_BLOCK_SELECT:
    put_block(w, to, EV_GO_BLOCK_SELECT, ticks, p);
    break;
  case MPROF_TRACE_SLEEP:
    put_block(w, to, EV_GO_SLEEP, ticks, p);
    break;
  case MPROF_TRACE_START:
    put_start(w, to, ticks, false, 0);
    break;
  case MPROF_TRACE_START_SELF:
    put_start(w, to, ticks, true, mprof_trace_get(p));
    break;
  case MPROF_TRACE_WAKE:
    if (!put_wake(w, ticks, p))
      return ticks;
    break;
  case MPROF_TRACE_CALL:
    put_call(w, to, ticks, p, false);
    break;
  case MPROF_TRACE_CALL_LONG:
    put_call(w, to, ticks, p, true);
    break;
  case MPROF_TRACE_CALL_OPEN:
    put_call(w, to, ticks, p, false);
    EVENT(w, EV_GO_SYS_BLOCK, 0);
    to->is_running = false;
    break;
  case MPROF_TRACE_HEAP:
    EVENT(w, EV_HEAP_ALLOC, ticks, mprof_trace_get(p));
    break;
  case MPROF_TRACE_GC_START:
    put_gc_start(w, ticks, p);
    break;
  case MPROF_TRACE_GC_DONE:
    EVENT(w, EV_GC_DONE, ticks);
    break;
  case MPROF_TRACE_TASK: {
    const uint64_t task = mprof_trace_get(p), parent = mprof_trace_get(p);
    const uint64_t name = name_of(w, mprof_trace_get(p));
    EVENT(w, EV_USER_TASK_CREATE, ticks, task, parent, name,
          mprof_trace_stack_number(w, mprof_trace_get(p)));
    break;
  }
  case MPROF_TRACE_TASK_END: {
    const uint64_t task = mprof_trace_get(p);
    EVENT(w, EV_USER_TASK_END, ticks, task,
          mprof_trace_stack_number(w, mprof_trace_get(p)));
    break;
  }
  case MPROF_TRACE_REGION: {
    const uint64_t task = mprof_trace_get(p), is_end = mprof_trace_get(p);
    const uint64_t name = name_of(w, mprof_trace_get(p));
    EVENT(w, EV_USER_REGION, ticks, task, is_end, name,
          mprof_trace_stack_number(w, mprof_trace_get(p)));
    break;
  }
  case MPROF_TRACE_LOG:
    put_log(w, ticks, p);
    break;
  default:
    break;
  }
  return 0;
}

void mprof_trace_write_batch(struct mprof_trace_writer *w,
                             struct mprof_trace_row *r,
                             const struct mprof_trace_buf *b) {
  struct mprof_trace_written *to = &r->written;
  const unsigned char *p = b->data, *const end = b->data + b->len;
  EVENT(w, EV_BATCH, b->row, b->ticks - to->left);
  while (p < end)
    to->left = put_record(w, to, &p, to->left);
}
