// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See trace_buf.h.

#include "trace_buf.h"

#include "flags.h"

static struct {
  struct mprof_lock lock; // guards the list
  struct mprof_trace_buf *unused;
  _Atomic size_t used, mapped; // in buffers
} pool = {.lock = MPROF_LOCK_INIT(MPROF_RANK_TRACE_BUF)};

struct mprof_trace_buf *mprof_trace_buf_new(void) {
  const size_t most = mprof_trace_buf_limit() / MPROF_TRACE_BUF_SIZE;
  struct mprof_trace_buf *b = NULL;
  mprof_lock_acquire(&pool.lock);
  if (pool.used < most) {
    b = pool.unused;
    if (b)
      pool.unused = b->next;
    else if ((b = mprof_os_map(MPROF_TRACE_BUF_SIZE)))
      pool.mapped++;
  }
  if (b)
    pool.used++;
  mprof_lock_release(&pool.lock);
  if (!b)
    return NULL;
  b->next = NULL;
  b->len = 0;
  atomic_store_explicit(&b->is_sealed, false, memory_order_release);
  return b;
}

// They stay mapped: a waiter may still look at a slot's generation.
void mprof_trace_buf_free(struct mprof_trace_buf *list) {
  while (list) {
    struct mprof_trace_buf *b = list;
    list = b->next;
    mprof_trace_buf_seal(b);
    atomic_fetch_add(&b->generation, 1);
    mprof_lock_acquire(&pool.lock);
    b->next = pool.unused;
    pool.unused = b;
    pool.used--;
    mprof_lock_release(&pool.lock);
  }
}

static atomic_bool is_doubled;

void mprof_trace_buf_double(bool on) { atomic_store(&is_doubled, on); }

size_t mprof_trace_buf_limit(void) {
  return (atomic_load_explicit(&is_doubled, memory_order_relaxed) ? 2 : 1) *
             (size_t)(mprof_flags.trace_last_mb != 0 ? mprof_flags.trace_last_mb
                                                     : mprof_flags.trace_max_mb)
         << 20;
}

size_t mprof_trace_buf_used(void) { return pool.used * MPROF_TRACE_BUF_SIZE; }

void mprof_trace_buf_reset(void) {
  mprof_lock_reset(&pool.lock);
  pool.unused = NULL; // the parent's, with threads in the middle of them
  pool.used = pool.mapped = 0;
}

bool mprof_trace_mark_claim(const struct mprof_trace_mark *m, uint64_t g,
                            uint32_t seq) {
  struct mprof_trace_buf *b = m->buf;
  bool is_mine = false;
  atomic_fetch_add(&b->pins, 1);
  if (!atomic_load(&b->is_sealed) &&
      atomic_load(&b->generation) == m->generation) {
    uint64_t none = 0;
    uint64_t *slot = __builtin_assume_aligned(b->data + m->offset, 8);
    is_mine = __atomic_compare_exchange_n(slot, &none, g << 32 | seq, false,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }
  atomic_fetch_sub(&b->pins, 1);
  return is_mine;
}

void mprof_trace_buf_seal(struct mprof_trace_buf *b) {
  atomic_store(&b->is_sealed, true);
  while (atomic_load(&b->pins) != 0)
    mprof_sys_sleep_ms(0);
}
