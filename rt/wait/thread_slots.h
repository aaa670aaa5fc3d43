// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of a profile of all threads: one for each thread of a round, with
// the thread's stack.

#ifndef MPROF_RT_WAIT_THREAD_SLOTS_H
#define MPROF_RT_WAIT_THREAD_SLOTS_H

#include "bucket/bucket.h"
#include "thread/threads.h"

enum mprof_stack_source {
  MPROF_STACK_OF_RUNNING, // by the thread itself
  MPROF_STACK_OF_WAITING, // where it waits
  // By the thread itself, out of a futex's wait that has no note.
  MPROF_STACK_IN_FUTEX,
  // It did not answer, or could not be asked without ending a system call of
  // its: what the kernel tells, an address at most.
  MPROF_STACK_UNREAD,
};

enum { MPROF_SLOT_ABSENT, MPROF_SLOT_IN_PROGRESS, MPROF_SLOT_SATISFIED };

// Written by who has it InProgress.
struct mprof_thread_slot {
  int tid;
  // NULL: it is in no registry. Written under registry_lock.
  _Atomic(struct mprof_thread *) thread;
  bool is_asked;
  bool may_later;          // be asked
  unsigned char tries;     // of asking it, without reason to hope for more
  uint64_t ran_ns, sleeps; // when its run was first looked at; ran_ns 0: never
  bool is_gone;
  bool sees_exit; // the thread's end waits for readers
  uintptr_t held; // the wait that it is kept in; 0: none
  // A ucontext_t of one that stands still in the handler of the signal.
  const void *_Atomic context;
  atomic_uint state; // MPROF_SLOT_...
  uint8_t source;    // enum mprof_stack_source
  uint8_t kind;      // of the wait
  uint8_t grade;     // of one that is stuck: enum mprof_stuck_grade
  char kernel_state; // UNREAD: R, S, D, ... as in /proc; 0: unknown
  int syscall;       // UNREAD: as in struct mprof_proc_thread
  uint64_t waited;   // ticks
  const struct mprof_bucket *created; // as in struct mprof_thread
  uint64_t count; // after grouping: threads with this stack and source
  // With the labels and, of one that is stuck, the object that it waits for;
  // last: its addresses follow.
  struct mprof_bucket stack;
};

struct mprof_thread_stacks {
  struct mprof_thread_slot **v; // those with a result; the caller's first
  size_t len;
  size_t threads; // sum of the counts
  // Of those that are stuck: threads that sleep in a futex without a note, and
  // so were not judged.
  size_t unseen;
  int64_t time_ns; // CLOCK_REALTIME
  // The rest is of the round.
  char *slots;
  size_t slots_len, slots_cap, stride;
  uint32_t *index;   // of slots by thread id: number + 1, open addressing
  size_t index_size; // a power of two
  uint32_t depth;
  bool stops;
  mprof_pc *scratch; // depth entries, for readings that may be void
  size_t mapped_bytes;
};

static inline struct mprof_thread_slot *
mprof_slot_at(const struct mprof_thread_stacks *s, size_t i) {
  return (struct mprof_thread_slot *)(s->slots + i * s->stride);
}
static inline unsigned mprof_slot_number(const struct mprof_thread_stacks *s,
                                         const struct mprof_thread_slot *slot) {
  return (unsigned)((size_t)((const char *)slot - s->slots) / s->stride);
}
// Returns the place in the index where the search for a thread begins.
size_t mprof_slot_place(const struct mprof_thread_stacks *s, int tid);
// Returns the slot of a thread by its id; NULL if the thread has none.
struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid);

#endif // MPROF_RT_WAIT_THREAD_SLOTS_H
