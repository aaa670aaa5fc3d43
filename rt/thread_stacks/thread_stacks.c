// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Begins and ends a round, that is, a collection of the stacks of all threads;
// see thread_stacks.h. Every thread gets a slot, and thread_collect.c fills the
// slots. A thread that is created during the round gets a slot only if the
// round stops all threads. (Go: goroutineProfileWithLabelsConcurrent)

#include "thread_stacks/thread_stacks.h"

#include "lock_wait/contention.h"
#include "sys/lock.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "thread_stacks/known_threads.h"
#include "thread_stacks/round_begin.h"
#include "thread_stacks/thread_ask.h"
#include "thread_stacks/thread_collect.h"
#include "thread_stacks/thread_pause.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_unnoted.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/stack_end.h"

static struct {
  struct mprof_lock lock; // stacks_lock; allows only one round at a time
  // Last number that a round may have; guarded by lock. Each round has two
  // numbers, because it may begin twice (round_begin.c).
  unsigned rounds;
} rounds = {.lock = MPROF_LOCK_INIT(MPROF_RANK_STACKS)};

// A function to call while all threads are stopped, and its argument.
struct inspection {
  // NULL: no function to call.
  void (*fn)(struct mprof_thread_stacks *s, void *arg);
  void *arg;
};

void mprof_stacks_lock(void) { mprof_lock_acquire(&rounds.lock); }
void mprof_stacks_unlock(void) { mprof_lock_release(&rounds.lock); }

void mprof_thread_stacks_free(struct mprof_thread_stacks *s) {
  mprof_round_free_slots(s);
  *s = (struct mprof_thread_stacks){0};
}

// --- the round ---

// Stops the threads that were created since the round began. To do so, collects
// their stacks, because a thread whose stack was collected stays stopped until
// the round ends. Repeats this until the kernel lists no new thread, which
// means that all threads are stopped. Several searches may be needed, because a
// thread that is not stopped yet may create another thread.
static void stop_the_rest(struct mprof_reader *r) {
  enum { LOOKS = 10 };
  size_t left_out = 0, known = r->s->slots_len;
  for (int looks = 0; looks < LOOKS; looks++) {
    if (!mprof_round_add_new_locked(r, &left_out))
      break;
    mprof_collect_slots(r, known);
    known = r->s->slots_len;
  }
  mprof_round_leave_out(left_out);
}

// Looks whether the registry had all threads when the round began, as it
// seemed. If this is not certain, reads the kernel's list, and collects the
// stacks of the threads that the registry lacked. (If the round stops all
// threads, stop_the_rest reads the list.)
static void collect_unknown(struct mprof_reader *r) {
  size_t left_out = 0;
  const size_t known = r->s->slots_len;
  if (!r->is_by_registry || !mprof_known_are_doubtful(r) || r->s->stops)
    return;
  mprof_round_add_new(r, &left_out);
  mprof_collect_slots(r, known);
  mprof_round_leave_out(left_out);
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

static void list_results(struct mprof_thread_stacks *s) {
  const struct mprof_thread_slot *own = s->len > 0 ? s->v[0] : NULL;
  for (size_t i = 0; i < s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, i);
    slot->count = 1;
    mprof_unnoted_name(slot);
    if (slot != own && !slot->is_gone &&
        atomic_load(&slot->state) == MPROF_SLOT_SATISFIED)
      s->v[s->len++] = slot;
  }
  s->threads = s->len;
}

// Runs a round. Returns 0, or the error of mprof_round_begin.
static int run(struct mprof_reader *r, const struct inspection *n,
               uintptr_t frame, size_t limit) {
  struct mprof_thread_stacks *s = r->s;
  const int error = mprof_round_begin(r, frame, limit);
  if (error != 0)
    return error;
  mprof_collect_slots(r, 0);
  collect_unknown(r);
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
    mprof_sys_doze();
  mprof_ask_end(r->lost);
  list_results(s);
  mprof_pause_end();
  return 0;
}

static int take(const struct inspection *n, struct mprof_thread_stacks *s,
                uintptr_t frame, size_t limit, bool stops) {
  *s = (struct mprof_thread_stacks){.time_ns = mprof_sys_realtime_ns(),
                                    .stops = stops};
  // From now on, all threads note their waits: they store the address of each
  // wait in their records. So this round and later rounds can read the stacks
  // of waiting threads, and need fewer signals.
  mprof_contention_note_waits();
  mprof_unwind_learn_roots();
  mprof_thread_self(false); // adds the calling thread to the registry
  mprof_lock_acquire(&rounds.lock);
  rounds.rounds += 2;
  if (rounds.rounds == 0) // 0 means that no round is active
    rounds.rounds = 2;
  struct mprof_reader r = {.s = s, .round = rounds.rounds - 1};
  // All signals are blocked during the round, because a long signal handler of
  // the program would keep the other threads waiting.
  const uint64_t mask = mprof_sys_set_signal_mask(UINT64_MAX);
  const int error = run(&r, n, frame, limit);
  mprof_sys_set_signal_mask(mask);
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
  mprof_lock_reset(&rounds.lock);
  atomic_store(&mprof_round.active, 0);
  atomic_store(&mprof_round.users, 0);
  atomic_store(&mprof_round.stopped, 0);
  mprof_pause_reset();
  atomic_store(&mprof_round.reading, NULL);
  mprof_ask_reset();
}
