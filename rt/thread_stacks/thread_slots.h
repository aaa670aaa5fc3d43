// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of a profile of all threads: one for each thread of a round, with
// the thread's stack. thread_stacks.h takes the profile; the thread that takes
// it is the reader.
//
// The states of a slot:
//
//   Absent ---> InProgress (one thread fills it) ---> Satisfied
//
// The reader fills the slot of a thread that waits. Another thread fills its
// own slot: in the handler of the signal that asks it (thread_ask.h), or where
// it begins or ends a wait (thread_wait.h). Only one round is active at a time.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H
#define MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H

#include "bucket/bucket.h"
#include "thread/threads.h"

enum mprof_stack_source {
  MPROF_STACK_OF_RUNNING, // the thread itself has unwound it in the handler
  MPROF_STACK_OF_WAITING, // stack of a noted wait
  // The thread itself has unwound it in the handler, which has interrupted the
  // wait for a futex without a note.
  MPROF_STACK_IN_FUTEX,
  // The thread did not answer, or could not be asked without ending one of its
  // system calls. The slot has what the kernel tells: one address at most.
  MPROF_STACK_UNREAD,
};

enum { MPROF_SLOT_ABSENT, MPROF_SLOT_IN_PROGRESS, MPROF_SLOT_SATISFIED };

// The slot of a thread. The fields from `source` on are the result. The thread
// that has changed the state to InProgress writes them.
struct mprof_thread_slot {
  int tid;
  // Record of the thread; NULL: not in the registry. Written under
  // registry_lock.
  _Atomic(struct mprof_thread *) thread;
  bool is_asked;  // the signal was sent
  bool may_later; // the thread cannot be asked now, but perhaps later
  // Number of looks at the thread while it ran and could not be asked.
  unsigned char tries;
  // The thread's processor time and number of sleeps at the first look at it
  // while it ran; ran_ns 0: no look so far.
  uint64_t ran_ns, sleeps;
  bool is_gone;   // the thread has ended
  bool sees_exit; // the thread's end waits for readers
  uintptr_t held; // the wait that the thread is held in; 0: none
  // The ucontext_t of a thread that stands still in the signal's handler.
  const void *_Atomic context;
  atomic_uint state; // MPROF_SLOT_...
  uint8_t source;    // enum mprof_stack_source
  uint8_t kind;      // kind of the wait, enum mprof_kind
  uint8_t grade;     // of a stuck thread: enum mprof_stuck_grade
  char kernel_state; // UNREAD: R, S, D, ... as in /proc; 0: unknown
  int syscall;       // UNREAD: as in struct mprof_proc_thread
  uint64_t waited;   // time of the wait so far, ticks
  const struct mprof_bucket *created; // as in struct mprof_thread
  uint64_t count; // after grouping: threads with this stack and source
  // The stack, with the labels and, for a stuck thread, the object that it
  // waits for. Must be last: the addresses follow it.
  struct mprof_bucket stack;
};

struct mprof_thread_stacks {
  struct mprof_thread_slot **v; // slots with a result; the caller's comes first
  size_t len;
  size_t threads; // sum of the counts
  // In the profile of stuck threads: number of threads that sleep in a futex
  // without a note, and so were not judged.
  size_t unseen;
  int64_t time_ns; // CLOCK_REALTIME
  // The other fields are used during the round.
  char *slots; // the slots, `stride` bytes each
  size_t slots_len, slots_cap, stride;
  uint32_t *index;   // slots by thread id: number + 1, open addressing
  size_t index_size; // a power of two
  uint32_t depth;    // maximum number of addresses in a stack
  bool stops;        // all threads are to stand still
  mprof_pc *scratch; // `depth` entries, for a stack that may have to be dropped
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
// Returns the place in the index where the search for thread tid begins.
size_t mprof_slot_place(const struct mprof_thread_stacks *s, int tid);
// Returns the slot of the thread with id tid; NULL if it has none.
struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid);

#endif // MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H
