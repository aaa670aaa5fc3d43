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

// --- reading ---

static const unsigned char numbers_of[] = {
    [MPROF_TRACE_BEGIN] = 4,        [MPROF_TRACE_PRE] = 3,
    [MPROF_TRACE_CREATE] = 3,       [MPROF_TRACE_BLOCK_SYNC] = 1,
    [MPROF_TRACE_BLOCK_COND] = 1,   [MPROF_TRACE_BLOCK_NET] = 1,
    [MPROF_TRACE_BLOCK_SELECT] = 1, [MPROF_TRACE_SLEEP] = 1,
    [MPROF_TRACE_START_SELF] = 1,   [MPROF_TRACE_WAKE] = 1,
    [MPROF_TRACE_CALL] = 1,         [MPROF_TRACE_CALL_LONG] = 2,
    [MPROF_TRACE_CALL_OPEN] = 1,    [MPROF_TRACE_HEAP] = 1,
    [MPROF_TRACE_GC_START] = 2,     [MPROF_TRACE_TASK] = 4,
    [MPROF_TRACE_TASK_END] = 2,     [MPROF_TRACE_REGION] = 4,
    [MPROF_TRACE_LOG] = 4};

const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r) {
  r->type = (enum mprof_trace_type) * p++;
  r->ticks = r->type == MPROF_TRACE_PRE ? 0 : mprof_trace_get(&p);
  const unsigned n = r->type < sizeof(numbers_of) ? numbers_of[r->type] : 0;
  for (unsigned i = 0; i < n; i++)
    r->n[i] = mprof_trace_get(&p);
  if (r->type == MPROF_TRACE_WAKE) {
    p = (const unsigned char *)(((uintptr_t)p + 7) & ~(uintptr_t)7);
    uint64_t signed_by;
    memcpy(&signed_by, p, sizeof(signed_by));
    p += sizeof(signed_by);
    r->n[1] = signed_by >> 32;
    r->n[2] = (uint32_t)signed_by;
  } else if (r->type == MPROF_TRACE_LOG) {
    r->text = p;
    p += r->n[3];
  }
  return p;
}

// --- events ---

// Readers take what comes before it for what there was already.
static void put_processors(struct mprof_trace_writer *w,
                           struct mprof_trace_written *to) {
  if (to->is_first)
    EVENT(w, EV_GOMAXPROCS, 0, mprof_trace_processors(w), 0);
  to->is_first = false;
}

static uint64_t stack(struct mprof_trace_writer *w, uint64_t handle) {
  return mprof_trace_stack_number(w, handle);
}

static uint64_t name(struct mprof_trace_writer *w, uint64_t handle) {
  return mprof_trace_string_number(w, mprof_trace_name_text((uint32_t)handle));
}

static void put_begin(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, uint64_t ticks,
                      const struct mprof_trace_record *r) {
  const uint64_t g = r->n[0], tid = r->n[1];
  const enum mprof_trace_from from = (enum mprof_trace_from)r->n[2];
  *to = (struct mprof_trace_written){.g = g, .is_first = to->is_first};
  if (from == MPROF_TRACE_FROM_UNKNOWN) {
    const bool is_main = tid == (uint64_t)mprof_sys_getpid();
    EVENT(w, EV_GO_CREATE, ticks, g,
          mprof_trace_start_number(w, r->n[3], is_main), 0);
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
  to->seq++;
  EVENT(w, EV_GO_START, 0, g, to->seq);
  put_processors(w, to);
}

static void put_pre(struct mprof_trace_writer *w,
                    const struct mprof_trace_record *r) {
  const uint64_t g = r->n[0];
  const enum mprof_trace_from from = (enum mprof_trace_from)r->n[1];
  EVENT(w, EV_GO_CREATE, 0, g, mprof_trace_start_number(w, r->n[2], false), 0);
  if (from == MPROF_TRACE_FROM_WAITING)
    EVENT(w, EV_GO_WAITING, 0, g);
  else if (from == MPROF_TRACE_FROM_CALL)
    EVENT(w, EV_GO_IN_SYSCALL, 0, g);
}

static void put_start(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, uint64_t ticks,
                      const struct mprof_trace_record *r) {
  const uint64_t ready = ++to->seq;
  if (r->type == MPROF_TRACE_START_SELF) {
    EVENT(w, EV_GO_UNBLOCK, ticks, to->g, ready, stack(w, r->n[0]));
    ticks = 0;
  }
  to->seq++;
  EVENT(w, EV_GO_START, ticks, to->g, to->seq);
}

static void put_call(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const struct mprof_trace_record *r) {
  EVENT(w, EV_GO_SYS_CALL, ticks, stack(w, r->n[0]));
  if (r->type == MPROF_TRACE_CALL)
    return;
  EVENT(w, EV_GO_SYS_BLOCK, 0);
  if (r->type == MPROF_TRACE_CALL_OPEN)
    return;
  EVENT(w, EV_GO_SYS_EXIT, r->n[1], to->g, to->seq + 1, 0);
  to->seq += 2;
  EVENT(w, EV_GO_START, 0, to->g, to->seq);
}

static bool begin_region(struct mprof_trace_writer *w,
                         struct mprof_trace_written *to, uint64_t ticks,
                         const struct mprof_trace_record *r) {
  if (to->regions == MPROF_TRACE_REGIONS)
    return false;
  to->region[to->regions].task = r->n[0];
  to->region[to->regions].name = r->n[2];
  to->regions++;
  EVENT(w, EV_USER_REGION, ticks, r->n[0], 0, name(w, r->n[2]),
        stack(w, r->n[3]));
  return true;
}

// Readers refuse a file whose regions do not nest. So one ends those within it,
// whose ends a longjmp or an error's way out has left out; and an end is left
// out that has no begin, as of a region that the window of a recorder cuts.
static bool end_region(struct mprof_trace_writer *w,
                       struct mprof_trace_written *to, uint64_t ticks,
                       const struct mprof_trace_record *r) {
  uint32_t depth = to->regions;
  while (depth > 0 && (to->region[depth - 1].task != r->n[0] ||
                       to->region[depth - 1].name != r->n[2]))
    depth--;
  if (depth == 0)
    return false;
  for (; to->regions >= depth; to->regions--) {
    const uint32_t i = to->regions - 1;
    EVENT(w, EV_USER_REGION, ticks, to->region[i].task, 1,
          name(w, to->region[i].name), stack(w, r->n[3]));
    ticks = 0;
  }
  return true;
}

static bool put_region(struct mprof_trace_writer *w,
                       struct mprof_trace_written *to, uint64_t ticks,
                       const struct mprof_trace_record *r) {
  return r->n[1] != 0 ? end_region(w, to, ticks, r)
                      : begin_region(w, to, ticks, r);
}

static bool put_gc_done(struct mprof_trace_writer *w,
                        struct mprof_trace_written *to, uint64_t ticks) {
  if (!to->is_collecting)
    return false;
  to->is_collecting = false;
  EVENT(w, EV_GC_DONE, ticks);
  return true;
}

static void put_log(struct mprof_trace_writer *w, uint64_t ticks,
                    const struct mprof_trace_record *r) {
  unsigned char length[10];
  EVENT(w, EV_USER_LOG, ticks, r->n[0], name(w, r->n[1]), stack(w, r->n[2]));
  mprof_trace_emit_bytes(w, length,
                         (size_t)(mprof_trace_put(length, r->n[3]) - length));
  mprof_trace_emit_bytes(w, r->text, r->n[3]);
}

static enum event block_of(enum mprof_trace_type type) {
  switch (type) {
  case MPROF_TRACE_BLOCK_COND:
    return EV_GO_BLOCK_COND;
  case MPROF_TRACE_BLOCK_NET:
    return EV_GO_BLOCK_NET;
  case MPROF_TRACE_BLOCK_SELECT:
    return EV_GO_BLOCK_SELECT;
  case MPROF_TRACE_SLEEP:
    return EV_GO_SLEEP;
  default:
    return EV_GO_BLOCK_SYNC;
  }
}

// Whether there was an event.
static bool put(struct mprof_trace_writer *w, struct mprof_trace_written *to,
                uint64_t ticks, const struct mprof_trace_record *r) {
  switch (r->type) {
  case MPROF_TRACE_BEGIN:
    put_begin(w, to, ticks, r);
    return true;
  case MPROF_TRACE_END:
    EVENT(w, EV_GO_END, ticks);
    EVENT(w, EV_PROC_STOP, 0);
    to->g = 0;
    return true;
  case MPROF_TRACE_PRE:
    put_pre(w, r);
    return ticks == 0; // it has none of its own
  case MPROF_TRACE_CREATE:
    EVENT(w, EV_GO_CREATE, ticks, r->n[0],
          mprof_trace_start_number(w, r->n[1], false), stack(w, r->n[2]));
    return true;
  case MPROF_TRACE_BLOCK_SYNC:
  case MPROF_TRACE_BLOCK_COND:
  case MPROF_TRACE_BLOCK_NET:
  case MPROF_TRACE_BLOCK_SELECT:
  case MPROF_TRACE_SLEEP:
    EVENT(w, block_of(r->type), ticks, stack(w, r->n[0]));
    return true;
  case MPROF_TRACE_START:
  case MPROF_TRACE_START_SELF:
    put_start(w, to, ticks, r);
    return true;
  case MPROF_TRACE_WAKE:
    if (r->n[1] == 0) // nobody signed
      return false;
    EVENT(w, EV_GO_UNBLOCK, ticks, r->n[1], r->n[2], stack(w, r->n[0]));
    return true;
  case MPROF_TRACE_CALL:
  case MPROF_TRACE_CALL_LONG:
  case MPROF_TRACE_CALL_OPEN:
    put_call(w, to, ticks, r);
    return true;
  case MPROF_TRACE_HEAP:
    EVENT(w, EV_HEAP_ALLOC, ticks, r->n[0]);
    return true;
  case MPROF_TRACE_GC_START:
    EVENT(w, EV_GC_START, ticks, r->n[0], stack(w, r->n[1]));
    to->is_collecting = true;
    return true;
  case MPROF_TRACE_GC_DONE:
    return put_gc_done(w, to, ticks);
  case MPROF_TRACE_TASK:
    EVENT(w, EV_USER_TASK_CREATE, ticks, r->n[0], r->n[1], name(w, r->n[2]),
          stack(w, r->n[3]));
    return true;
  case MPROF_TRACE_TASK_END:
    EVENT(w, EV_USER_TASK_END, ticks, r->n[0], stack(w, r->n[1]));
    return true;
  case MPROF_TRACE_REGION:
    return put_region(w, to, ticks, r);
  case MPROF_TRACE_LOG:
    put_log(w, ticks, r);
    return true;
  case MPROF_TRACE_NONE:
    break;
  }
  return false;
}

void mprof_trace_write_record(struct mprof_trace_writer *w,
                              struct mprof_trace_written *to,
                              const struct mprof_trace_record *r) {
  const uint64_t ticks = to->left + r->ticks;
  // A thread that begins is written anew.
  to->left = put(w, to, ticks, r) ? 0 : ticks;
}

void mprof_trace_write_batch(struct mprof_trace_writer *w,
                             struct mprof_trace_row *row,
                             const struct mprof_trace_buf *b) {
  struct mprof_trace_written *to = &row->written;
  struct mprof_trace_record r;
  const unsigned char *p = b->data, *const end = b->data + b->len;
  EVENT(w, EV_BATCH, b->row, b->ticks - to->left);
  while (p < end) {
    p = mprof_trace_read_record(p, &r);
    mprof_trace_write_record(w, to, &r);
  }
}
