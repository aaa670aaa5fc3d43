// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the threads that were found stuck a second time, and takes their
// stacks; see stuck_look_again.h.

#include "stuck/stuck_look_again.h"

#include "lock_wait/contention.h"
#include "options/flags.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_locks.h"
#include "stuck/stuck_unnoted.h"
#include "sys/os_memory.h"
#include "thread/threads.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/stack_end.h"

#include <errno.h>

static bool has_same_holder(struct mprof_stuck_thread *x) {
  if (!mprof_awaits_lock(x->awaited))
    return true;
  const struct mprof_lock_holder h =
      mprof_lock_holder_of(x->wait.object, x->awaited);
  return h.tid == x->holder_tid && (h.tid != 0 || h.is_held);
}

// Unwinds the stack of a stuck thread into slot. Returns false if the thread is
// no longer in the wait that was copied to x->wait. If the thread has not
// recorded its wait (is_unnoted), stores only the first addresses of the stack
// and always returns true. has_slept checks later whether the thread is still
// in this wait.
static bool take_stack(struct mprof_stuck *g, struct mprof_stuck_thread *x,
                       struct mprof_thread_slot *slot) {
  struct mprof_thread *t = x->thread;
  if (x->is_unnoted) {
    mprof_stuck_unnoted_stack(x, slot, g->stacks.depth);
    return true;
  }
  uintptr_t w = atomic_load(&t->wait), held = w | MPROF_WAIT_HELD;
  if (t->tid != x->tid || !mprof_stuck_has_wait(w) ||
      !atomic_compare_exchange_strong(&t->wait, &w, held))
    return false;
  const struct mprof_wait *now = (const struct mprof_wait *)x->at;
  const bool is_same = mprof_stuck_whole_wait(w) == x->at &&
                       now->start == x->wait.start && now->op == x->wait.op;
  if (is_same) {
    enum mprof_stack_end end;
    slot->tid = x->tid;
    slot->count = 1;
    slot->created = t->created;
    slot->stack->labels = atomic_load(&t->labels);
    slot->stack->object = x->wait.object;
    slot->stack->stack_len = (uint32_t)mprof_unwind_wait(
        &x->range, &x->wait, slot->stack->stack, g->stacks.depth, &end);
    slot->stack->end = (uint8_t)end;
    slot->grade = x->grade;
    mprof_slot_note_wait(slot, &x->wait);
  }
  atomic_compare_exchange_strong(&t->wait, &held, w);
  return is_same;
}

static int make_slots(struct mprof_stuck *g) {
  struct mprof_thread_stacks *s = &g->stacks;
  *s = (struct mprof_thread_stacks){.time_ns = g->time_ns};
  s->depth = (uint32_t)mprof_flags.stack_depth;
  const size_t stack_bytes = mprof_slot_stack_bytes(s->depth);
  s->mapped_bytes =
      g->stuck * (stack_bytes + sizeof(*s->slots) + sizeof(*s->v)) + 1;
  s->slots = mprof_os_map(s->mapped_bytes);
  if (!s->slots)
    return -ENOMEM;
  s->v = (struct mprof_thread_slot **)(s->slots + g->stuck);
  s->stacks = (char *)(s->v + g->stuck);
  for (size_t i = 0; i < g->stuck; i++)
    s->slots[i].stack = (struct mprof_bucket *)(s->stacks + i * stack_bytes);
  return 0;
}

// Takes the stacks of all stuck threads. Returns false if any of these threads
// has left the wait that was copied. Before this call, mprof_stuck_sleeps has
// asked the kernel for which object each thread sleeps. The answer is about the
// copied wait only if the thread has not left this wait by now.
static bool take_stacks(struct mprof_stuck *g) {
  struct mprof_thread_stacks *s = &g->stacks;
  bool all_wait = true;
  for (size_t i = 0; i < g->len; i++) {
    struct mprof_stuck_thread *x = &g->v[i];
    if (x->grade == MPROF_MAY_RUN)
      continue;
    x->slot = mprof_slot_at(s, s->len);
    if (take_stack(g, x, x->slot)) {
      s->v[s->len++] = x->slot;
    } else {
      x->awaited = MPROF_AWAITS_NOTHING;
      all_wait = false;
    }
  }
  s->threads = s->len;
  return all_wait;
}

// Calls `is_true` for all stuck threads. A thread for which the result is false
// may run. Returns whether the result was true for all threads.
static bool check_stuck(struct mprof_stuck *g,
                        bool (*is_true)(struct mprof_stuck_thread *x)) {
  bool all = true;
  for (size_t i = 0; i < g->len; i++) {
    struct mprof_stuck_thread *x = &g->v[i];
    if (x->grade == MPROF_MAY_RUN || is_true(x))
      continue;
    x->awaited = MPROF_AWAITS_NOTHING;
    all = false;
  }
  return all;
}

static bool has_slept(struct mprof_stuck_thread *x) {
  return !x->is_unnoted || mprof_stuck_unnoted_has_slept(x);
}

// The order of the checks matters. All stuck threads sleep without a break from
// the first check to the last one. The holders are read meanwhile, so no stuck
// thread can release a lock between the reads of two holders.
int mprof_stuck_graph_look_again(struct mprof_stuck *g) {
  if (!check_stuck(g, mprof_stuck_sleeps) || !check_stuck(g, has_same_holder))
    return -EAGAIN;
  if (make_slots(g) != 0)
    return -ENOMEM;
  const uint64_t mask = mprof_stuck_lock_threads();
  const bool all_wait = take_stacks(g);
  mprof_stuck_unlock_threads(mask);
  return check_stuck(g, has_slept) && all_wait ? 0 : -EAGAIN;
}
