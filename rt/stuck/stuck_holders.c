// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the holder of each awaited lock; see stuck_holders.h.
//
// The thread id in a lock's memory may be wrong, because the program may have
// freed the lock. So this id is only used to look for a living thread with this
// id.

#include "stuck/stuck_holders.h"

#include "lock_wait/holds.h"
#include "process/process.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_locks.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/sort.h"

#include <errno.h>

// --- holders found in the records of holds.h ---

static bool comes_first(const void *a, const void *b) {
  const struct mprof_stuck_hold *x = a, *y = b;
  return x->lock != y->lock ? x->lock < y->lock : x->since > y->since;
}

static int take_holds(struct mprof_stuck *g) {
  const size_t each = sizeof(struct mprof_stuck_hold) + sizeof(*g->holds);
  g->holds_bytes = g->len * MPROF_HOLDS * each + 1;
  g->holds = mprof_os_map(g->holds_bytes);
  if (!g->holds)
    return -ENOMEM;
  struct mprof_stuck_hold *v =
      (struct mprof_stuck_hold *)(g->holds + g->len * MPROF_HOLDS);
  for (size_t i = 0; i < g->len; i++) {
    struct mprof_hold h;
    if (!g->v[i].thread || !g->v[i].thread->holds)
      continue;
    g->lost_holds += g->v[i].thread->holds->lost;
    for (size_t k = 0; k < MPROF_HOLDS; k++) {
      if (!mprof_hold_read(g->v[i].thread, k, &h) || !h.is_needed)
        continue;
      v[g->holds_len] = (struct mprof_stuck_hold){h.lock, h.since, i};
      g->holds[g->holds_len] = &v[g->holds_len];
      g->holds_len++;
    }
  }
  mprof_sort((void **)g->holds, g->holds_len, comes_first);
  return 0;
}

static size_t first_hold(const struct mprof_stuck *g, uintptr_t lock) {
  size_t low = 0, high = g->holds_len;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (g->holds[middle]->lock < lock)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void find_recorded(struct mprof_stuck *g, struct mprof_stuck_thread *x,
                          const struct mprof_lock_holder *h) {
  const size_t first = first_hold(g, x->wait.object);
  size_t n = 0;
  while (first + n < g->holds_len &&
         g->holds[first + n]->lock == x->wait.object)
    n++;
  if (n == 0 || h->readers > n || g->lost_holds > 0)
    return;
  // Only one thread can hold a mutex or a spin lock: the thread that has the
  // newest record of this lock.
  if (x->awaited == MPROF_AWAITS_MUTEX || x->awaited == MPROF_AWAITS_SPIN)
    n = 1;
  x->holder = MPROF_HOLDER_RECORDED;
  x->holds = first;
  x->holds_len = (uint32_t)n;
  // If there are more records than readers, some of the recorded threads have
  // already released the lock, and it is unknown which. In this case x is stuck
  // only if all recorded threads are stuck.
  x->needs_all = n != h->readers;
}

// --- edges: from a waiting thread to the holder ---

// Upper limit of the thread ids that the kernel assigns.
enum { TID_MAX = 1 << 22 };

static void find_owner(struct mprof_stuck *g, struct mprof_stuck_thread *x,
                       const struct mprof_lock_holder *h) {
  x->holder_tid = h->tid;
  x->of = mprof_stuck_graph_find(g, h->tid);
  if (x->of != MPROF_NO_THREAD) {
    x->holder = MPROF_HOLDER_THREAD;
  } else if (!h->may_change && h->tid > 0 && h->tid <= TID_MAX &&
             // In a forked child, the owner may be the thread that has called
             // fork. The lock then contains the id that this thread had in the
             // parent.
             mprof_process_epoch() == 0 && !mprof_sys_thread_alive(h->tid)) {
    x->holder = MPROF_HOLDER_GONE;
  }
}

static void find_joined(struct mprof_stuck *g, struct mprof_stuck_thread *x) {
  x->of = mprof_stuck_graph_find_pthread(g, x->wait.joins);
  if (x->of == MPROF_NO_THREAD)
    return;
  x->holder = MPROF_HOLDER_THREAD;
  x->holder_tid = g->v[x->of].tid;
}

int mprof_stuck_find_holders(struct mprof_stuck *g) {
  int error = 0;
  for (size_t i = 0; i < g->len && error == 0; i++) {
    struct mprof_stuck_thread *x = &g->v[i];
    if (x->awaited == MPROF_AWAITS_THREAD)
      find_joined(g, x);
    if (!mprof_awaits_lock(x->awaited))
      continue;
    const struct mprof_lock_holder h =
        mprof_lock_holder_of(x->wait.object, x->awaited);
    if (h.tid != 0) {
      find_owner(g, x, &h);
    } else if (x->awaited == MPROF_AWAITS_READ && MPROF_LOCKS_NAME_OWNERS) {
      // No thread holds the lock for writing, so x waits behind a waiting
      // writer. The writer may give up, so x is not judged stuck.
    } else if (h.is_held && mprof_holds_on) {
      if (!g->holds)
        error = take_holds(g);
      if (error == 0)
        find_recorded(g, x, &h);
    }
  }
  return error;
}
