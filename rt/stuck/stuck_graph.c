// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies the waits of all threads, which are the nodes of the graph of waiting
// threads; see stuck.h.

#include "stuck/stuck.h"

#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "process/process.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/sort.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"

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

// Sets the fields `holder`, `of` and those that belong to them, of all threads
// in g. Returns 0 or -ENOMEM. Call with registry_lock held, so that no thread
// ends.
static int find_holders(struct mprof_stuck *g) {
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

// --- threads ---

// Returns the position in a hash table at which the search for a key begins.
// The key is a thread's id or its pthread_t.
static size_t place_of(const struct mprof_stuck *g, uint64_t key) {
  return (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (g->index_size - 1);
}

static void enter(struct mprof_stuck *g, uint32_t *index, uint64_t key,
                  size_t i) {
  size_t at = place_of(g, key);
  while (index[at] != 0)
    at = (at + 1) & (g->index_size - 1);
  index[at] = (uint32_t)i + 1;
}

size_t mprof_stuck_graph_find(const struct mprof_stuck *g, int tid) {
  size_t at = place_of(g, (unsigned)tid);
  for (; g->by_tid[at] != 0; at = (at + 1) & (g->index_size - 1))
    if (g->v[g->by_tid[at] - 1].tid == tid)
      return g->by_tid[at] - 1;
  return MPROF_NO_THREAD;
}

size_t mprof_stuck_graph_find_pthread(const struct mprof_stuck *g,
                                      uintptr_t pthread) {
  size_t at = place_of(g, pthread);
  for (; g->by_pthread[at] != 0; at = (at + 1) & (g->index_size - 1))
    if (g->v[g->by_pthread[at] - 1].pthread == pthread)
      return g->by_pthread[at] - 1;
  return MPROF_NO_THREAD;
}

// --- the recorded waits ---

struct taking {
  struct mprof_stuck *g;
  uint64_t now, age;
  const struct mprof_thread_stacks *stopped; // NULL: threads are not stopped
};

uintptr_t mprof_stuck_whole_wait(uintptr_t w) {
  enum { NESTED = 16 };
  const struct mprof_wait *x = (const struct mprof_wait *)w;
  for (int i = 0; i < NESTED && x->is_inside && x->outer != 0; i++) {
    x = (const struct mprof_wait *)x->outer;
    if (x->kind == MPROF_KIND_user)
      w = (uintptr_t)x;
  }
  return w;
}

// Copies the struct mprof_wait of x's thread into x->wait, and sets x->awaited.
// The thread cannot end meanwhile, because its end needs registry_lock. While
// the bit MPROF_WAIT_HELD is set, the thread does not return from its wait.
// Without this bit, the struct could become invalid during the copy, because
// it is on the stack of the thread.
static void copy_wait(struct mprof_stuck_thread *x, const struct taking *k) {
  struct mprof_thread *t = x->thread;
  uintptr_t w = atomic_load(&t->wait);
  if (k->stopped) { // only the calling thread can leave its wait now
    if (!mprof_stuck_has_wait(w) ||
        (!(w & MPROF_WAIT_HELD) && t != mprof_tls.self))
      return;
    x->at = mprof_stuck_whole_wait(w & ~MPROF_WAIT_BITS);
    x->wait = *(const struct mprof_wait *)x->at;
  } else {
    if (!mprof_stuck_has_wait(w) || (w & MPROF_WAIT_BITS) ||
        !atomic_compare_exchange_strong(&t->wait, &w, w | MPROF_WAIT_HELD))
      return;
    x->at = mprof_stuck_whole_wait(w);
    x->wait = *(const struct mprof_wait *)x->at;
    uintptr_t held = w | MPROF_WAIT_HELD;
    atomic_compare_exchange_strong(&t->wait, &held, w);
  }
  // Ignore a wait that the thread has left by longjmp or an exception.
  if (!x->wait.is_noted || x->wait.frame + MPROF_MAX_FRAME_BYTES - x->at >=
                               2 * MPROF_MAX_FRAME_BYTES) {
    x->at = 0;
    return;
  }
  if (k->now - x->wait.start >= k->age && k->now > x->wait.start)
    x->awaited = (uint8_t)mprof_awaited_of(x->wait.op, x->wait.kind);
  if (x->awaited != MPROF_AWAITS_NOTHING && t == mprof_tls.self &&
      !mprof_stuck_sleeps(x))
    x->awaited = MPROF_AWAITS_NOTHING;
}

uint64_t mprof_stuck_lock_threads(void) {
  mprof_stacks_lock();
  const uint64_t mask = mprof_sys_set_signal_mask(UINT64_MAX);
  mprof_lock_acquire(&mprof_registry_lock);
  return mask;
}

void mprof_stuck_unlock_threads(uint64_t mask) {
  mprof_lock_release(&mprof_registry_lock);
  mprof_sys_set_signal_mask(mask);
  mprof_stacks_unlock();
}

static void count_locked(struct mprof_thread *t, void *arg) {
  struct mprof_stuck *g = arg;
  (void)t;
  g->cap++;
}

static void add_locked(struct mprof_thread *t, void *arg) {
  const struct taking *k = arg;
  struct mprof_stuck *g = k->g;
  // Skip a thread that has ended. Only threads without a countdown address are
  // checked: a thread with this address is not in the registry after its end,
  // because a destructor has removed the thread.
  if (g->len == g->cap || (!t->countdown && !mprof_sys_thread_alive(t->tid)))
    return;
  struct mprof_stuck_thread *x = &g->v[g->len];
  enter(g, g->by_tid, (unsigned)t->tid, g->len);
  enter(g, g->by_pthread, t->pthread, g->len);
  g->len++;
  x->thread = t;
  x->tid = t->tid;
  x->pthread = t->pthread;
  x->range = t->range;
  x->of = MPROF_NO_THREAD;
  copy_wait(x, k);
  // If is_interrupted is true, the search takes the thread's registers from
  // x->wait. A wait of kind user or call has no copy of the registers.
  x->is_interrupted = t == mprof_tls.self && x->at != 0 &&
                      x->at == (uintptr_t)mprof_tls.interrupted &&
                      x->wait.kind != MPROF_KIND_user &&
                      x->wait.kind != MPROF_KIND_call;
}

// --- waits that are not noted ---

// Adds a thread that is not registered, unless the graph already contains it.
static void add_other(struct mprof_stuck *g, int tid) {
  if (g->len == g->cap || mprof_is_own_thread(tid) ||
      mprof_stuck_graph_find(g, tid) != MPROF_NO_THREAD)
    return;
  struct mprof_stuck_thread *x = &g->v[g->len];
  enter(g, g->by_tid, (unsigned)tid, g->len);
  g->len++;
  x->tid = tid;
  x->of = MPROF_NO_THREAD;
}

static void add_unnoted(const struct taking *k, const struct mprof_tids *t) {
  struct mprof_stuck *g = k->g;
  if (k->age != 0) // the age of a wait that is not noted is unknown
    return;
  for (size_t i = 0; i < t->len; i++)
    add_other(g, t->v[i]);
  for (size_t i = 0; k->stopped && i < k->stopped->slots_len; i++)
    add_other(g, mprof_slot_at(k->stopped, i)->tid);
  for (size_t i = 0; i < g->len; i++) {
    struct mprof_stuck_thread *x = &g->v[i];
    if (x->at != 0)
      continue;
    const struct mprof_thread_slot *slot =
        k->stopped ? mprof_slot_of(k->stopped, x->tid) : NULL;
    if (!k->stopped || slot)
      mprof_stuck_unnoted_find(x, slot);
  }
}

// --- all waits ---

// Allocates the graph's array of threads and its two hash tables. others: upper
// limit of the number of threads that are not registered.
static int make_room(struct mprof_stuck *g, size_t others) {
  mprof_threads_each(count_locked, g);
  g->cap += others;
  g->index_size = 64;
  while (g->index_size < 2 * g->cap)
    g->index_size *= 2;
  const size_t threads_bytes = g->cap * sizeof(*g->v);
  g->mapped_bytes = threads_bytes + 2 * g->index_size * sizeof(*g->by_tid);
  g->v = mprof_os_map(g->mapped_bytes);
  if (!g->v)
    return -ENOMEM;
  g->by_tid = (uint32_t *)((char *)g->v + threads_bytes);
  g->by_pthread = g->by_tid + g->index_size;
  return 0;
}

static int copy_waits(const struct taking *k, const struct mprof_tids *t) {
  const size_t others = k->age != 0  ? 0
                        : k->stopped ? k->stopped->slots_len
                                     : t->len;
  const int error = make_room(k->g, others);
  if (error == 0)
    mprof_threads_each(add_locked, (void *)(uintptr_t)k);
  return error;
}

// The data of /proc is read without a lock, because reading the data takes long
// if there are many threads.
static int take_running(const struct taking *k) {
  struct mprof_tids t = {.v = NULL};
  int error = k->age == 0 ? mprof_tids_list(&t) : 0;
  if (error == -ENOMEM) // without /proc, only registered threads are judged
    return error;
  uint64_t mask = mprof_stuck_lock_threads();
  error = copy_waits(k, &t);
  mprof_stuck_unlock_threads(mask);
  if (error == 0) {
    add_unnoted(k, &t);
    mask = mprof_stuck_lock_threads();
    error = find_holders(k->g);
    mprof_stuck_unlock_threads(mask);
  }
  mprof_tids_free(&t);
  return error;
}

static int take_stopped(const struct taking *k) {
  const struct mprof_tids none = {.v = NULL};
  const int error = copy_waits(k, &none);
  if (error != 0)
    return error;
  add_unnoted(k, &none);
  return find_holders(k->g);
}

int mprof_stuck_graph_take(struct mprof_stuck *g, uint64_t age,
                           const struct mprof_thread_stacks *stopped) {
  const struct taking k = {g, mprof_clock_now(), age, stopped};
  *g = (struct mprof_stuck){.time_ns = mprof_sys_realtime_ns()};
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY) == (stopped != NULL));
  return stopped ? take_stopped(&k) : take_running(&k);
}

void mprof_stuck_free(struct mprof_stuck *g) {
  if (g->v)
    mprof_os_unmap(g->v, g->mapped_bytes);
  if (g->holds)
    mprof_os_unmap(g->holds, g->holds_bytes);
  mprof_thread_stacks_free(&g->stacks);
  g->v = NULL;
  g->holds = NULL;
}

// --- which threads are stuck ---

// The kinds of evidence that the function settle() may use to decide which
// threads may run. OWNERS: the thread ids in the memory of locks. RECORDS: also
// the records of holds.h. REACHED: also the search of memory, which finds
// whether a thread that may run can reach an awaited object. Evidence of a
// smaller value is more certain.
enum trust { OWNERS, RECORDS, REACHED };

static bool recorded_may_run(struct mprof_stuck *g,
                             struct mprof_stuck_thread *x) {
  uint32_t running = 0;
  for (uint32_t i = 0; i < x->holds_len; i++) {
    const size_t holder = g->holds[x->holds + i]->thread;
    if (g->v[holder].may_run)
      running++;
    else
      x->of = holder;
  }
  return x->needs_all ? running > 0 : running == x->holds_len;
}

static bool may_run(struct mprof_stuck *g, struct mprof_stuck_thread *x,
                    enum trust trust) {
  switch (x->awaited) {
  case MPROF_AWAITS_NOTHING:
    return true;
  case MPROF_AWAITS_OBJECT:
    return trust < REACHED || x->is_reached;
  default:
    break;
  }
  switch (x->holder) {
  case MPROF_HOLDER_THREAD:
    return g->v[x->of].may_run;
  case MPROF_HOLDER_GONE:
    return false;
  case MPROF_HOLDER_RECORDED:
    return trust < RECORDS || recorded_may_run(g, x);
  default:
    return true;
  }
}

// Sets may_run of all threads. Uses the kinds of evidence that `trust` allows.
// Computes the smallest set of threads that may run. All other threads wait for
// one another, or for threads that have ended.
static void settle(struct mprof_stuck *g, enum trust trust) {
  for (size_t i = 0; i < g->len; i++)
    g->v[i].may_run = false;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (size_t i = 0; i < g->len; i++)
      if (!g->v[i].may_run && may_run(g, &g->v[i], trust))
        g->v[i].may_run = has_changed = true;
  }
}

void mprof_stuck_graph_settle(struct mprof_stuck *g) { settle(g, REACHED); }

void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned) {
  g->stuck = g->certain = g->likely = 0;
  settle(g, OWNERS);
  for (size_t i = 0; i < g->len; i++)
    g->v[i].grade = g->v[i].may_run ? MPROF_MAY_RUN : MPROF_STUCK_CERTAIN;
  settle(g, scanned ? REACHED : RECORDS);
  for (size_t i = 0; i < g->len; i++) {
    struct mprof_stuck_thread *x = &g->v[i];
    if (!x->may_run && x->grade == MPROF_MAY_RUN)
      x->grade = MPROF_STUCK_LIKELY;
    g->certain += x->grade == MPROF_STUCK_CERTAIN;
    g->likely += x->grade == MPROF_STUCK_LIKELY;
  }
  g->stuck = g->certain + g->likely;
}

// Finds cycles by walks that begin at each stuck thread and follow the edges,
// which lead from a waiting thread to the holder of its lock. A stuck thread
// has at most one edge. So a walk ends at a thread without an edge, at a thread
// of an earlier walk, or at a thread of this walk. If the walk ends at a thread
// of this walk, a cycle is found.
void mprof_stuck_graph_cycles(struct mprof_stuck *g) {
  for (size_t i = 0; i < g->len; i++) {
    size_t at = i;
    while (at != MPROF_NO_THREAD && g->v[at].grade != MPROF_MAY_RUN &&
           g->v[at].walk == 0) {
      g->v[at].walk = i + 1;
      at = g->v[at].of;
    }
    if (at == MPROF_NO_THREAD || g->v[at].walk != i + 1)
      continue;
    g->cycles++;
    for (; g->v[at].cycle == 0; at = g->v[at].of)
      g->v[at].cycle = g->cycles;
  }
}
