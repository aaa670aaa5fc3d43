// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists all threads at the begin of a round (a collection of the stacks of all
// threads), and makes a slot for the stack of each thread; see round_begin.h.
// The threads come from two lists: the registry, which has all threads that
// have had an event, and the kernel's list in /proc. If the registry has all
// threads (known_threads.h), the kernel's list is not read.

#include "thread_stacks/round_begin.h"

#include "options/flags.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/own_thread.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/known_threads.h"
#include "thread_stacks/thread_ask.h"
#include "thread_stacks/thread_collect.h"
#include "thread_stacks/thread_ids.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/stack_range.h"
#include "unwind/unwind_cfi.h"

#include <errno.h>

// Number of slots for threads that are created while the round begins.
enum { SPARE_SLOTS = 256 };

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

// Allocates the memory of `threads` slots, and of `spare` slots that may stay
// unused. A slot that is never used takes only address space.
static int make_slots(struct mprof_thread_stacks *s, size_t threads,
                      size_t spare) {
  s->slots_cap = threads + spare;
  s->depth = (uint32_t)mprof_flags.stack_depth;
  s->index_size = 64;
  while (s->index_size < 2 * s->slots_cap)
    s->index_size *= 2;
  const size_t slots_bytes = s->slots_cap * sizeof(*s->slots);
  const size_t pointers_bytes = s->slots_cap * sizeof(*s->v);
  const size_t scratch_bytes = s->depth * sizeof(mprof_pc);
  const size_t index_bytes = s->index_size * sizeof(*s->index);
  const size_t before_stacks = (slots_bytes + pointers_bytes + scratch_bytes +
                                index_bytes + MPROF_PAGE - 1) &
                               ~((size_t)MPROF_PAGE - 1);
  s->mapped_bytes =
      before_stacks + s->slots_cap * mprof_slot_stack_bytes(s->depth);
  s->slots = mprof_os_map(s->mapped_bytes);
  if (!s->slots)
    return -ENOMEM;
  mprof_os_populate(s->slots, threads * sizeof(*s->slots));
  char *p = (char *)s->slots + slots_bytes;
  s->v = (struct mprof_thread_slot **)p;
  s->scratch = (mprof_pc *)(p + pointers_bytes);
  s->index = (uint32_t *)(p + pointers_bytes + scratch_bytes);
  s->stacks = (char *)s->slots + before_stacks;
  s->stacks_used = 0;
  return 0;
}

void mprof_round_free_slots(struct mprof_thread_stacks *s) {
  if (s->slots)
    mprof_os_unmap(s->slots, s->mapped_bytes);
  s->slots = NULL;
  s->slots_len = s->len = 0;
}

// --- threads and their records ---

// Returns whether thread t, which has no slot, may still exist. If the kernel's
// list was not read and the runtime notices the end of t, t is looked up later
// (known_threads.h).
static bool may_live_locked(const struct mprof_reader *r,
                            const struct mprof_thread *t) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  return (r->is_by_registry && t->countdown) || mprof_sys_thread_alive(t->tid);
}

// A count of the threads of the registry that have no slot yet.
struct unlisted {
  const struct mprof_reader *r;
  size_t threads;
};

static void count_unlisted_locked(struct mprof_thread *t, void *arg) {
  struct unlisted *u = arg;
  u->threads += !mprof_slot_of(u->r->s, t->tid) && may_live_locked(u->r, t);
}

// Connects the record of thread t with the slot of t in the round, if t has a
// slot.
static void join_locked(struct mprof_thread *t, void *arg) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  const struct mprof_reader *r = arg;
  struct mprof_thread_slot *slot = mprof_slot_of(r->s, t->tid);
  if (!slot || slot->thread)
    return;
  slot->thread = t;
  slot->sees_exit = t->countdown != NULL;
  slot->created = t->created;
  atomic_store(&t->slot, mprof_slot_number(r->s, slot));
  atomic_store(&t->round, r->round);
}

// Does the same as join_locked, but first adds a slot for t if t has none. Most
// slots were created from the kernel's list of threads. But the list may lack t
// for two reasons: t was created later, or another thread has ended while the
// kernel made the list.
static void add_locked(struct mprof_thread *t, void *arg) {
  const struct mprof_reader *r = arg;
  if (!mprof_slot_of(r->s, t->tid) && may_live_locked(r, t))
    add_slot(r->s, t->tid);
  join_locked(t, arg);
}

void mprof_round_leave_out(size_t threads) {
  if (threads > 0)
    mprof_stat_add(MPROF_STAT_threads_left_out, threads);
}

// --- the begin of a round ---

// Fills the slot of the calling thread.
static void fill_own(struct mprof_thread_stacks *s, uintptr_t frame) {
  // The runtime's own threads have no frame of the program.
  if (mprof_tls.is_own)
    return;
  struct mprof_thread_slot *slot = mprof_slot_of(s, mprof_sys_gettid());
  struct mprof_thread *t = mprof_thread_self(false);
  struct mprof_stack_range range =
      t ? t->range
        : mprof_stack_range_of_thread(mprof_sys_gettid() == mprof_sys_getpid());
  enum mprof_stack_end end;
  // The kernel's list may lack this thread, for the reason given at add_locked.
  if (!slot)
    slot = add_slot(s, mprof_sys_gettid());
  if (!slot || !mprof_slot_claim(s, slot, s->depth))
    return;
  const struct mprof_wait *w = mprof_tls.interrupted;
  slot->stack->stack_len =
      (uint32_t)(w ? mprof_unwind_wait(&range, w, slot->stack->stack, s->depth,
                                       &end)
                   : mprof_unwind_cfi(&range, frame, slot->stack->stack,
                                      s->depth, &end));
  slot->stack->end = (uint8_t)end;
  slot->stack->labels = mprof_tls.labels;
  if (w)
    mprof_slot_note_wait(slot, w);
  mprof_slot_satisfy(slot);
  s->v[s->len++] = slot;
}

// Makes the slots of the listed threads, and fills the slot of the calling
// thread. Then takes registry_lock, and makes the slots of the other threads of
// the registry. Stores the number of these threads in *unlisted.
//
// A new thread of instrumented code takes the lock to enter the registry,
// before it runs code of the program. So each thread of instrumented code that
// can create threads is in the registry. When this function returns, each
// thread of the registry that still lives has a slot.
// Returns 0 with the lock held. Returns -ENOMEM without the lock.
static int make_all_slots(struct mprof_reader *r, const struct mprof_tids *tids,
                          uintptr_t frame, size_t *unlisted) {
  struct mprof_thread_stacks *s = r->s;
  for (size_t spare = SPARE_SLOTS;;) {
    const int error = make_slots(s, tids->len, spare);
    if (error != 0)
      return error;
    for (size_t i = 0; i < tids->len; i++)
      add_slot(s, tids->v[i]);
    fill_own(s, frame);
    mprof_lock_acquire(&mprof_registry_lock);
    struct unlisted u = {.r = r};
    mprof_threads_each(count_unlisted_locked, &u);
    *unlisted = u.threads;
    // Half of the spare slots are for threads that add_unregistered and
    // stop_the_rest find later.
    if (u.threads <= spare / 2)
      break;
    mprof_lock_release(&mprof_registry_lock);
    mprof_round_free_slots(s);
    spare = 4 * u.threads;
  }
  mprof_threads_each(add_locked, r);
  return 0;
}

// Makes the slots of the threads of the registry, and fills the slot of the
// calling thread. Returns true with registry_lock held if the registry seems to
// have all threads. Otherwise, or if there are more threads than `limit`, makes
// no slots.
static bool make_known_slots(struct mprof_reader *r, uintptr_t frame,
                             size_t limit) {
  struct mprof_thread_stacks *s = r->s;
  const size_t registered = mprof_threads_number();
  if (registered > limit || !mprof_known_seem_all() ||
      make_slots(s, registered, SPARE_SLOTS) != 0)
    return false;
  fill_own(s, frame);
  mprof_lock_acquire(&mprof_registry_lock);
  struct mprof_own_tids own = mprof_known_own();
  const uint64_t threads = mprof_proc_all_threads_count();
  r->is_by_registry = true;
  // This is nearly the order of the kernel's list.
  mprof_threads_each_oldest_first(add_locked, r);
  r->is_by_registry = mprof_known_are_all(s, &own, threads);
  if (r->is_by_registry)
    return true;
  mprof_lock_release(&mprof_registry_lock);
  mprof_round_free_slots(s);
  // The records of the threads still have the numbers of these slots. With the
  // same number of the round, a thread could take one of them for the number of
  // its next slot.
  r->round++;
  return false;
}

// Adds slots for threads that are not in the registry and may have created a
// thread that has a slot. A creator is older than the threads that it has
// created, and the kernel lists the threads in the order of their creation. So
// adds slots for all listed threads before the last one that has a slot. Call
// this after make_all_slots, if that function has added threads that the
// kernel's list lacked.
static void add_unregistered(struct mprof_reader *r) {
  struct mprof_thread_stacks *s = r->s;
  struct mprof_tids tids;
  if (mprof_tids_list(&tids) != 0)
    return;
  mprof_lock_acquire(&mprof_registry_lock);
  size_t len = tids.len, unlisted = s->slots_len, left_out = 0;
  while (len > 0 && !mprof_slot_of(s, tids.v[len - 1]))
    len--;
  for (size_t i = 0; i < len; i++)
    if (mprof_slot_of(s, tids.v[i]))
      unlisted--;
    else
      left_out += !add_slot(s, tids.v[i]);
  if (tids.missing > unlisted)
    left_out += tids.missing - unlisted;
  mprof_threads_each(join_locked, r);
  mprof_lock_release(&mprof_registry_lock);
  mprof_tids_free(&tids);
  mprof_round_leave_out(left_out);
}

// Threads that the kernel's list lacked when make_listed_slots read it.
struct lacking {
  size_t registered; // threads of the registry, which have got slots
  size_t others;     // other threads; number of threads that are known to exist
};

// Makes the slots of all threads from the kernel's list and the registry.
// Returns 0 with registry_lock held. Otherwise returns, without the lock,
// -ENOMEM, or -ERANGE if the kernel's list has more threads than `limit`.
static int make_listed_slots(struct mprof_reader *r, uintptr_t frame,
                             size_t limit, struct lacking *lacking) {
  struct mprof_tids tids;
  int error = mprof_tids_list(&tids);
  if (error == -ENOMEM)
    return error;
  // Other errors mean that /proc cannot be read. Then the round has only the
  // threads of the registry.
  if (error != 0)
    mprof_stat_add(MPROF_STAT_threads_unlisted, 1);
  r->s->threads = tids.len;
  error = tids.len > limit
              ? -ERANGE
              : make_all_slots(r, &tids, frame, &lacking->registered);
  lacking->others = tids.missing;
  mprof_tids_free(&tids);
  return error;
}

int mprof_round_begin(struct mprof_reader *r, uintptr_t frame, size_t limit) {
  struct mprof_thread_stacks *s = r->s;
  struct lacking lacking = {0, 0};
  // Call mprof_ask_begin before registry_lock is taken. mprof_ask_begin calls
  // sigaction, and a library may have replaced sigaction by a function that
  // takes a lock.
  mprof_ask_begin();
  int error = make_known_slots(r, frame, limit)
                  ? 0
                  : make_listed_slots(r, frame, limit, &lacking);
  if (error != 0) {
    mprof_ask_end(0);
    return error;
  }
  s->threads = s->slots_len;
  if (s->slots_len > limit) {
    mprof_lock_release(&mprof_registry_lock);
    mprof_ask_end(0);
    return -ERANGE;
  }
  atomic_store(&mprof_round.stopped, s->stops);
  mprof_round.stacks = s;
  atomic_store(&mprof_round.active, r->round);
  if (s->stops)
    return 0;
  mprof_lock_release(&mprof_registry_lock);
  if (lacking.registered > 0)
    add_unregistered(r);
  else
    mprof_round_leave_out(lacking.others);
  return 0;
}

// --- later threads ---

// Adds slots for the listed threads that have none. Returns whether it has
// added a slot.
static bool add_listed_locked(struct mprof_reader *r,
                              const struct mprof_tids *tids, size_t *left_out) {
  struct mprof_thread_stacks *s = r->s;
  const size_t known = s->slots_len;
  *left_out = tids->missing;
  for (size_t i = 0; i < tids->len; i++)
    *left_out += !mprof_slot_of(s, tids->v[i]) && !add_slot(s, tids->v[i]);
  if (s->slots_len == known)
    return false;
  mprof_threads_each(add_locked, r);
  return true;
}

bool mprof_round_add_new_locked(struct mprof_reader *r, size_t *left_out) {
  struct mprof_tids tids;
  if (mprof_tids_list(&tids) != 0)
    return false;
  const bool has_added = add_listed_locked(r, &tids, left_out);
  mprof_tids_free(&tids);
  return has_added;
}

void mprof_round_add_new(struct mprof_reader *r, size_t *left_out) {
  struct mprof_tids tids;
  if (mprof_tids_list(&tids) != 0)
    return;
  mprof_lock_acquire(&mprof_registry_lock);
  add_listed_locked(r, &tids, left_out);
  mprof_lock_release(&mprof_registry_lock);
  mprof_tids_free(&tids);
}
