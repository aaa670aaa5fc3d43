// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of a round. In a round (thread_stacks.h), one thread, the reader,
// takes the stacks of all threads. Each thread has a slot, which gets the
// thread's stack.
//
// The states of a slot:
//
//   Absent ---> InProgress (one thread fills it) ---> Satisfied
//
// The reader fills the slot of a thread that waits. A thread that does not wait
// fills its own slot: in the handler of the signal by which the reader asks the
// thread (thread_ask.h), or when it begins or ends a wait (thread_wait.h). Only
// one round is active at a time.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H
#define MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H

#include "bucket/bucket.h"
#include "thread/threads.h"

enum mprof_stack_source {
  // The thread itself has unwound its stack, in the signal handler.
  MPROF_STACK_OF_RUNNING,
  // The stack of a noted wait.
  MPROF_STACK_OF_WAITING,
  // The thread itself has unwound its stack, in the signal handler. The handler
  // has interrupted a futex wait that was not noted.
  MPROF_STACK_IN_FUTEX,
  // The thread has not answered, or could not be asked because the signal would
  // have ended one of its system calls. The slot has only the facts that the
  // kernel shows in /proc, with at most one address.
  MPROF_STACK_UNREAD,
};

enum { MPROF_SLOT_ABSENT, MPROF_SLOT_IN_PROGRESS, MPROF_SLOT_SATISFIED };

// The slot of a thread. The fields from `source` on are the result. They are
// written by the thread that has changed the state to InProgress.
struct mprof_thread_slot {
  int tid;
  // The thread's record; NULL: the thread is not in the registry. Written under
  // registry_lock.
  _Atomic(struct mprof_thread *) thread;
  bool is_asked;  // the signal was sent to the thread
  bool may_later; // the thread cannot be asked now, but perhaps later
  // Number of times that the reader has looked at the thread and could not ask
  // it.
  unsigned char tries;
  // Processor time and number of sleeps of the thread when the reader first saw
  // it running. ran_ns 0: the reader has not seen it running.
  uint64_t ran_ns, sleeps;
  bool is_gone;   // the thread has ended
  bool sees_exit; // before it ends, the thread waits until no reader reads it
  uintptr_t held; // address of the wait that the thread is held in; 0: none
  // The ucontext_t that the kernel passed to the signal handler; NULL: the
  // handler has not run.
  const void *_Atomic context;
  atomic_uint state; // MPROF_SLOT_...
  uint8_t source;    // enum mprof_stack_source
  uint8_t kind;      // kind of the wait, enum mprof_kind
  uint8_t grade;     // enum mprof_stuck_grade, for the profile of stuck threads
  char kernel_state; // UNREAD: R, S, D, ... as in /proc; 0: unknown
  int syscall;       // UNREAD: as in struct mprof_proc_thread
  uint64_t waited;   // time of the wait so far, ticks
  const struct mprof_bucket *created; // see struct mprof_thread
  uint64_t count; // after grouping: number of threads with this stack
  // The thread's stack and labels. For a stuck thread, also the object for
  // which the thread waits. This field must be last, because the addresses
  // follow it.
  struct mprof_bucket stack;
};

struct mprof_thread_stacks {
  struct mprof_thread_slot **v; // filled slots; the calling thread's slot first
  size_t len;                   // number of entries of v
  size_t threads;               // sum of the counts of these slots
  // For the profile of stuck threads: number of threads that were not examined,
  // because they sleep in a futex wait that is not noted.
  size_t unseen;
  int64_t time_ns; // CLOCK_REALTIME
  // The remaining fields are used during the round.
  char *slots; // the slots, `stride` bytes each
  size_t slots_len, slots_cap, stride;
  uint32_t *index;   // hash table by thread id: slot number + 1; 0: unused
  size_t index_size; // a power of two
  uint32_t depth;    // maximum number of addresses in a stack
  bool stops;        // the round stops all threads
  mprof_pc *scratch; // `depth` entries; a stack is copied from here to its slot
                     // after the reader has checked that it is valid
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
// Returns the position in index[] where the search for thread tid begins.
size_t mprof_slot_place(const struct mprof_thread_stacks *s, int tid);
// Returns the slot of the thread with id tid; NULL if it has none.
struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid);

#endif // MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H
