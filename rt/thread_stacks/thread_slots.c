// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of a round and their states; see thread_stacks.h.

#include "thread_stacks/thread_stacks.h"

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "sys/clock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "unwind/unwind.h"

size_t mprof_slot_place(const struct mprof_thread_stacks *s, int tid) {
  return (uint32_t)tid * 2654435761u & (s->index_size - 1);
}

struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid) {
  size_t i = mprof_slot_place(s, tid);
  for (; s->index[i] != 0; i = (i + 1) & (s->index_size - 1)) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, s->index[i] - 1);
    if (slot->tid == tid)
      return slot;
  }
  return NULL;
}

void mprof_slots_populate(const struct mprof_thread_stacks *s) {
  enum { SHORT = 12 };
  const size_t used = __atomic_load_n(&s->stacks_used, __ATOMIC_RELAXED) &
                      -mprof_sys_page_size();
  char *begin = s->stacks + used, *end = (char *)s->slots + s->mapped_bytes;
  const size_t bytes = s->slots_len * mprof_slot_stack_bytes(
                                          s->depth < SHORT ? s->depth : SHORT);
  if (begin < end)
    mprof_os_populate(
        begin, bytes < (size_t)(end - begin) ? bytes : (size_t)(end - begin));
}

// --- the active round ---

struct mprof_round mprof_round;

struct mprof_thread_slot *mprof_round_enter(unsigned round, unsigned slot) {
  atomic_fetch_add(&mprof_round.users, 1);
  if (round != 0 && atomic_load(&mprof_round.active) == round)
    return mprof_slot_at(mprof_round.stacks, slot);
  mprof_round_leave();
  return NULL;
}

void mprof_round_leave(void) { atomic_fetch_sub(&mprof_round.users, 1); }

bool mprof_slot_claim(struct mprof_thread_stacks *s,
                      struct mprof_thread_slot *slot, size_t depth) {
  unsigned absent = MPROF_SLOT_ABSENT;
  if (!atomic_compare_exchange_strong(&slot->state, &absent,
                                      MPROF_SLOT_IN_PROGRESS))
    return false;
  const size_t bytes =
      mprof_slot_stack_bytes(depth < s->depth ? depth : s->depth);
  const size_t at =
      __atomic_fetch_add(&s->stacks_used, bytes, __ATOMIC_RELAXED);
  slot->stack = (struct mprof_bucket *)(s->stacks + at);
  MPROF_ASSERT((char *)slot->stack + bytes <=
               (char *)s->slots + s->mapped_bytes);
  return true;
}

void mprof_slot_satisfy(struct mprof_thread_slot *slot) {
  MPROF_ASSERT(atomic_load(&slot->state) == MPROF_SLOT_IN_PROGRESS);
  atomic_store_explicit(&slot->state, MPROF_SLOT_SATISFIED,
                        memory_order_release);
}

static uintptr_t sp_of(const struct mprof_wait *w) {
#if MPROF_RA_IS_PUSHED
  return mprof_frame_end(w->frame);
#else
  return w->sp;
#endif
}

size_t mprof_unwind_wait(struct mprof_stack_range *range,
                         const struct mprof_wait *w, int tid, mprof_pc *pcs,
                         size_t depth, enum mprof_stack_end *end) {
  const struct mprof_registers caller = {
      .pc = w->pc, .sp = sp_of(w), .bp = w->fp};
  *end = MPROF_STACK_CUT_DEPTH;
  if (depth == 0)
    return 0;
  pcs[0] = mprof_op_pc(w->op);
  return 1 +
         mprof_unwind_registers(range, &caller, tid, pcs + 1, depth - 1, end);
}

void mprof_slot_note_wait(struct mprof_thread_slot *slot,
                          const struct mprof_wait *w) {
  const uint64_t now = mprof_clock_now();
  slot->source = MPROF_STACK_OF_WAITING;
  slot->kind = w->kind;
  slot->waited = now > w->start ? now - w->start : 0;
  slot->wait_start = w->start;
  slot->object = w->object;
  slot->fd = w->fd;
}
