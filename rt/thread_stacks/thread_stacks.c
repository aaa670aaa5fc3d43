// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Begins and ends a round, that is, a collection of the stacks of all threads;
// see thread_stacks.h. Every thread gets a slot, and thread_collect.c fills the
// slots. A thread that is created during the round gets a slot only if the
// round stops all threads. (Go: goroutineProfileWithLabelsConcurrent)

#include "thread_stacks/thread_stacks.h"

#include "lock_wait/contention.h"
#include "sys/assert.h"
#include "sys/flags.h"
#include "sys/lock.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_ask.h"
#include "thread_stacks/thread_collect.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/stack_range.h"
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_fp.h"

#include <errno.h>

enum {
  SPARE_SLOTS = 64,
  // Maximum number of searches for new threads. Several searches may be needed,
  // because a thread that is not stopped yet may create another thread.
  LOOKS = 10,
};

static struct {
  struct mprof_lock lock; // stacks_lock; allows only one round at a time
  unsigned rounds;        // number of the last round; guarded by lock
} rounds = {.lock = MPROF_LOCK_INIT(MPROF_RANK_STACKS)};

// A function to call while all threads are stopped, and its argument.
struct inspection {
  // NULL: no function to call.
  void (*fn)(struct mprof_thread_stacks *s, void *arg);
  void *arg;
};

atomic_int mprof_own_thread;

static bool is_runtimes_own(int tid) {
  return tid == atomic_load_explicit(&mprof_own_thread, memory_order_relaxed);
}

void mprof_stacks_lock(void) { mprof_lock_acquire(&rounds.lock); }
void mprof_stacks_unlock(void) { mprof_lock_release(&rounds.lock); }

// --- slots ---

// Adds a slot for thread tid and returns the slot. Returns NULL if all slots
// are used.
static struct mprof_thread_slot *add_slot(struct mprof_thread_stacks *s,
                                          int tid) {
  if (s->slots_len == s->slots_cap)
    return NULL;
  struct mprof_thread_slot *slot = mprof_slot_at(s, s->slots_len);
  slot->tid = tid;
  size_t i = mprof_slot_place(s, tid);
  while (s->index[i] != 0)
    i = (i + 1) & (s->index_size - 1);
  s->index[i] = (uint32_t)++s->slots_len;
  MPROF_ASSERT(2 * s->slots_len <= s->index_size);
  return slot;
}

struct tids {
  int *v;
  size_t len, mapped_bytes;
};

static void free_tids(struct tids *t) {
  if (t->v)
    mprof_os_unmap(t->v, t->mapped_bytes);
  t->v = NULL;
}

static int list_threads(struct tids *t) {
  size_t cap = 1024;
  for (;;) {
    *t = (struct tids){.mapped_bytes = cap * sizeof(int)};
    t->v = mprof_os_map(t->mapped_bytes);
    if (!t->v)
      return -ENOMEM;
    long n = mprof_proc_threads(t->v, cap);
    if (n >= 0 && (size_t)n <= cap) {
      for (size_t i = 0; i < (size_t)n; i++)
        if (!is_runtimes_own(t->v[i]))
          t->v[t->len++] = t->v[i];
      return 0;
    }
    free_tids(t);
    if (n < 0)
      return (int)n;
    // Room for threads that are created meanwhile.
    cap = (size_t)n + n / 8 + 64;
  }
}

static int make_slots(struct mprof_thread_stacks *s, size_t threads) {
  s->slots_cap = threads + mprof_threads_list(NULL, 0) + SPARE_SLOTS;
  s->depth = (uint32_t)mprof_flags.stack_depth;
  s->stride =
      (sizeof(struct mprof_thread_slot) + s->depth * sizeof(mprof_pc) + 63) &
      ~(size_t)63;
  s->index_size = 64;
  while (s->index_size < 2 * s->slots_cap)
    s->index_size *= 2;
  const size_t slots_bytes = s->slots_cap * s->stride;
  const size_t pointers_bytes = s->slots_cap * sizeof(*s->v);
  const size_t scratch_bytes = s->depth * sizeof(mprof_pc);
  s->mapped_bytes = slots_bytes + pointers_bytes + scratch_bytes +
                    s->index_size * sizeof(*s->index);
  s->slots = mprof_os_map(s->mapped_bytes);
  if (!s->slots)
    return -ENOMEM;
  char *p = s->slots + slots_bytes;
  s->v = (struct mprof_thread_slot **)p;
  s->scratch = (mprof_pc *)(p + pointers_bytes);
  s->index = (uint32_t *)(p + pointers_bytes + scratch_bytes);
  return 0;
}

void mprof_thread_stacks_free(struct mprof_thread_stacks *s) {
  if (s->slots)
    mprof_os_unmap(s->slots, s->mapped_bytes);
  *s = (struct mprof_thread_stacks){0};
}

// --- threads and their records ---

// Connects the record of thread t with the slot of t in the round. Most slots
// were created from the kernel's list of threads. But if a thread ends while
// the kernel makes the list, the list may lack another thread. If t has no
// slot, this function adds one. Otherwise the round could contain a thread
// without the older thread that created it.
static void join_locked(struct mprof_thread *t, void *arg) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  const struct mprof_reader *r = arg;
  struct mprof_thread_slot *slot = mprof_slot_of(r->s, t->tid);
  if (!slot)
    slot = add_slot(r->s, t->tid);
  if (!slot || slot->thread)
    return;
  slot->thread = t;
  slot->sees_exit = t->countdown != NULL;
  slot->created = t->created;
  atomic_store(&t->slot, mprof_slot_number(r->s, slot));
  atomic_store(&t->round, r->round);
}

// --- the round ---

// Stops the threads that were created since the round began, by reading their
// stacks or asking for their stacks. Repeats this until the kernel lists no new
// thread, which means that all threads are stopped.
static void stop_the_rest(struct mprof_reader *r) {
  struct mprof_thread_stacks *s = r->s;
  for (int looks = 0; looks < LOOKS; looks++) {
    const size_t known = s->slots_len;
    struct tids tids;
    if (list_threads(&tids) != 0)
      return;
    for (size_t i = 0; i < tids.len; i++)
      if (!mprof_slot_of(s, tids.v[i]) && !add_slot(s, tids.v[i]))
        break;
    free_tids(&tids);
    if (s->slots_len == known)
      return;
    mprof_threads_each(join_locked, r);
    mprof_collect_slots(r, known);
  }
}

static void let_go(struct mprof_thread_stacks *s) {
  for (size_t i = 0; i < s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, i);
    uintptr_t held = slot->held | MPROF_WAIT_HELD;
    if (slot->held != 0)
      atomic_compare_exchange_strong(&slot->thread->wait, &held, slot->held);
  }
  atomic_store(&mprof_round.stopped, 0);
  mprof_sys_futex_wake_all(&mprof_round.stopped);
}

// Fills the slot of the calling thread.
static void fill_own(struct mprof_thread_stacks *s, uintptr_t frame) {
  if (is_runtimes_own(mprof_sys_gettid()))
    return;
  struct mprof_thread_slot *slot = mprof_slot_of(s, mprof_sys_gettid());
  struct mprof_thread *t = mprof_thread_self(false);
  struct mprof_stack_range range =
      t ? t->range
        : mprof_stack_range_of_thread(mprof_sys_gettid() == mprof_sys_getpid());
  enum mprof_stack_end end;
  // The kernel's list of threads may lack this thread if another thread ended
  // while the kernel made the list.
  if (!slot)
    slot = add_slot(s, mprof_sys_gettid());
  if (!slot || !mprof_slot_claim(slot))
    return;
  const struct mprof_wait *w = mprof_tls.interrupted;
  slot->stack.stack_len =
      (uint32_t)(w ? mprof_unwind_wait(&range, w, slot->stack.stack, s->depth,
                                       &end)
                   : mprof_unwind_cfi(&range, frame, slot->stack.stack,
                                      s->depth, &end));
  slot->stack.end = (uint8_t)end;
  slot->stack.labels = mprof_tls.labels;
  if (w)
    mprof_slot_note_wait(slot, w);
  mprof_slot_satisfy(slot);
  s->v[s->len++] = slot;
}

static void run(struct mprof_reader *r, const struct inspection *n,
                uintptr_t frame) {
  struct mprof_thread_stacks *s = r->s;
  fill_own(s, frame);
  mprof_ask_begin();
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_threads_each(join_locked, r);
  atomic_store(&mprof_round.stopped, s->stops);
  mprof_round.stacks = s;
  atomic_store(&mprof_round.active, r->round);
  if (!s->stops)
    mprof_lock_release(&mprof_registry_lock);
  mprof_collect_slots(r, 0);
  if (s->stops)
    stop_the_rest(r);
  mprof_collect_rest(r);
  if (n->fn)
    n->fn(s, n->arg);
  atomic_store(&mprof_round.active, 0);
  let_go(s);
  if (s->stops)
    mprof_lock_release(&mprof_registry_lock);
  while (atomic_load(&mprof_round.users) != 0)
    mprof_sys_yield();
  mprof_ask_end(r->lost);
}

static void list_results(struct mprof_thread_stacks *s) {
  const struct mprof_thread_slot *own = s->len > 0 ? s->v[0] : NULL;
  for (size_t i = 0; i < s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, i);
    slot->count = 1;
    if (slot != own && !slot->is_gone &&
        atomic_load(&slot->state) == MPROF_SLOT_SATISFIED)
      s->v[s->len++] = slot;
  }
  s->threads = s->len;
}

static int take(const struct inspection *n, struct mprof_thread_stacks *s,
                uintptr_t frame, size_t limit, bool stops) {
  *s = (struct mprof_thread_stacks){.time_ns = mprof_sys_realtime_ns(),
                                    .stops = stops};
  struct tids tids;
  // From now on, all threads note their waits: they store the address of each
  // wait in their records. So this round and later rounds can read the stacks
  // of waiting threads, and need fewer signals.
  mprof_contention_note_waits();
  mprof_unwind_learn_roots();
  mprof_thread_self(false); // adds the calling thread to the registry
  mprof_lock_acquire(&rounds.lock);
  int error = list_threads(&tids);
  // After -ENOMEM, there is no round. Any other error means that /proc is
  // missing. In this case, the round has only the threads of the registry.
  if (error != -ENOMEM)
    error = 0;
  if (error == 0 && tids.len > limit) {
    s->threads = tids.len;
    error = -ERANGE;
  }
  if (error == 0 && (error = make_slots(s, tids.len)) == 0) {
    // All signals are blocked during the round, because a long signal handler
    // of the program would keep the other threads waiting.
    const uint64_t mask = mprof_sys_set_signal_mask(UINT64_MAX);
    if (++rounds.rounds == 0)
      rounds.rounds = 1;
    struct mprof_reader r = {.s = s, .round = rounds.rounds};
    for (size_t i = 0; i < tids.len; i++)
      add_slot(s, tids.v[i]);
    run(&r, n, frame);
    mprof_sys_set_signal_mask(mask);
    list_results(s);
  }
  free_tids(&tids);
  mprof_lock_release(&rounds.lock);
  return error;
}

int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops) {
  const struct inspection none = {.fn = NULL};
  return take(&none, s, frame, limit, stops);
}

int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg) {
  const struct inspection n = {inspect, arg};
  return take(&n, s, frame, SIZE_MAX, true);
}

void mprof_thread_stacks_init(void) {
  mprof_thread_observer = (struct mprof_thread_observer){
      mprof_stacks_enter_locked, mprof_stacks_until_unread};
  mprof_wait_observer =
      (struct mprof_wait_observer){mprof_wait_note, mprof_wait_note_end};
}

void mprof_thread_stacks_reset(void) {
  atomic_store(&mprof_own_thread, 0);
  mprof_lock_reset(&rounds.lock);
  atomic_store(&mprof_round.active, 0);
  atomic_store(&mprof_round.users, 0);
  atomic_store(&mprof_round.stopped, 0);
  atomic_store(&mprof_round.reading, NULL);
  mprof_ask_reset();
}
