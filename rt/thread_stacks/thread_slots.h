// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of a round. In a round (thread_stacks.h), one thread, the reader,
// collects the stacks of all threads. Each thread has a slot, which receives
// the thread's stack.
//
// The states of a slot:
//
//   Absent ---> InProgress (one thread fills it) ---> Satisfied
//
// The reader fills the slot of a thread that waits. Any other thread fills its
// own slot, either in the handler of the reader's signal (thread_ask.h), or
// when the thread begins or ends a wait (thread_wait.h). Only one round is
// active at a time.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H
#define MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H

#include "bucket/bucket.h"
#include "thread/threads.h"
#include "thread_stacks/thread_unnoted.h"
#include "unwind/unwind.h"

struct mprof_wait;

enum mprof_stack_source {
  // The thread has unwound its own stack, in the signal handler.
  MPROF_STACK_OF_RUNNING,
  // The stack of a noted wait, that is, of a wait whose address is in the
  // thread's record (thread_wait.h). The reader, or the thread itself at the
  // begin or end of the wait, has unwound the stack.
  MPROF_STACK_OF_WAITING,
  // The thread has unwound its own stack, in the signal handler. The handler
  // has interrupted a futex wait whose address is not in the thread's record.
  // If the function of this wait is known (thread_unnoted.h), the reader
  // changes the source to MPROF_STACK_OF_WAITING.
  MPROF_STACK_IN_FUTEX,
  // The thread has not answered, or could not be asked because the signal would
  // have made a system call of the thread fail with EINTR. The slot has only
  // the data that the kernel shows in /proc, with at most two addresses.
  MPROF_STACK_UNREAD,
};

enum { MPROF_SLOT_ABSENT, MPROF_SLOT_IN_PROGRESS, MPROF_SLOT_SATISFIED };

// The slot of a thread. The fields from `source` on are the result. The thread
// that has changed the slot's state to InProgress writes these fields.
struct mprof_thread_slot {
  int tid;
  // The thread's record. NULL: the thread is not in the registry. Written under
  // registry_lock.
  _Atomic(struct mprof_thread *) thread;
  bool is_examined; // the reader has tried to read or ask the thread
  bool is_asked;    // the reader has sent the signal to the thread
  bool may_later;   // the thread cannot be asked now, but perhaps later
  bool is_listed;   // the slot is in the list of asked threads
  struct mprof_thread_slot *next_asked;
  // Number of times that the reader has examined the thread and could not ask
  // the thread.
  unsigned char tries;
  // Processor time and number of sleeps of the thread when the reader first
  // found the thread running. ran_ns is 0 before that time.
  uint64_t ran_ns, sleeps;
  bool is_gone; // the thread has ended
  // true: the runtime sees the end of the thread, and delays this end while a
  // reader reads the thread's stack.
  bool sees_exit;
  // In a round that stops all threads: address of the wait that the thread
  // cannot end before the round ends; 0: none.
  uintptr_t held;
  // The ucontext_t that the kernel has passed to the signal handler. NULL: the
  // handler has not run.
  const void *_Atomic context;
  atomic_uint state; // MPROF_SLOT_ABSENT, ...
  uint8_t source;    // enum mprof_stack_source
  uint8_t kind;      // enum mprof_kind of the wait
  uint8_t grade;     // enum mprof_stuck_grade; set for stuck threads
  char kernel_state; // for MPROF_STACK_UNREAD: state in /proc; 0: unknown
  int holder;        // stuck thread: id of the thread that holds the lock, or 0
  int syscall;       // for MPROF_STACK_UNREAD: see struct mprof_proc_thread
  uint64_t waited;   // duration of the wait so far, ticks
  // The function in which the thread waited when the reader examined the
  // thread, if the address of this wait is not in the thread's record. op is 0
  // if the function is unknown.
  struct mprof_unnoted unnoted;
  const struct mprof_bucket *created; // creation stack; NULL: unknown
  uint64_t count; // after grouping: number of threads with this stack
  // The thread's stack and labels. For a stuck thread, also the object for
  // which the thread waits. NULL: nobody has begun to fill the slot.
  struct mprof_bucket *stack;
};

struct mprof_thread_stacks {
  // Pointers to the filled slots; `len` is their number. The calling thread's
  // slot is first.
  struct mprof_thread_slot **v;
  size_t len;
  size_t threads; // sum of the counts of the slots in v
  // For the profile of stuck threads: number of threads that were not examined,
  // because they sleep in a futex wait whose address is not in their records.
  size_t unseen;
  int64_t time_ns; // time of the round: nanoseconds of CLOCK_REALTIME
  // A difference of two profiles: the time between them in nanoseconds.
  // Otherwise 0.
  int64_t duration_ns;
  // The remaining fields are used only while the stacks are collected.
  struct mprof_thread_slot *slots;
  size_t slots_len, slots_cap;
  // Memory for the stacks of the slots, one after the other. stacks_used:
  // number of bytes that are used. Accessed atomically, because several threads
  // may fill their slots at once.
  char *stacks;
  size_t stacks_used;
  // Hash table by thread id. An entry is a slot's number + 1; 0: unused.
  uint32_t *index;
  size_t index_size; // number of entries of `index`; a power of two
  uint32_t depth;    // maximum number of addresses in a stack
  bool stops;        // true: all threads stop until the round ends
  // Buffer for `depth` addresses. The reader unwinds a stack into this buffer.
  // It copies the stack to the slot after it has checked that the stack is
  // valid.
  mprof_pc *scratch;
  size_t mapped_bytes;
};

static inline struct mprof_thread_slot *
mprof_slot_at(const struct mprof_thread_stacks *s, size_t i) {
  return &s->slots[i];
}
static inline unsigned mprof_slot_number(const struct mprof_thread_stacks *s,
                                         const struct mprof_thread_slot *slot) {
  return (unsigned)(slot - s->slots);
}
// Returns the number of bytes of a stack with at most `depth` addresses.
static inline size_t mprof_slot_stack_bytes(size_t depth) {
  return (sizeof(struct mprof_bucket) + depth * sizeof(mprof_pc) + 15) &
         ~(size_t)15;
}
// Provides the pages for short stacks of as many threads as have slots. This
// costs less than the page faults of many threads.
void mprof_slots_populate(const struct mprof_thread_stacks *s);
// Returns the position in s->index where the search for thread tid begins.
size_t mprof_slot_place(const struct mprof_thread_stacks *s, int tid);
// Returns the slot of the thread with id tid. Returns NULL if the thread has no
// slot.
struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid);

// --- the active round ---
//
// A round is one collection of the stacks of all threads.

extern MPROF_HIDDEN struct mprof_round {
  atomic_uint active;  // number of the active round; 0: none
  atomic_uint users;   // number of threads that use the slots now
  atomic_uint stopped; // 1: a thread that has reported its stack waits
                       // until this field is 0 again
  // The thread whose stack the reading thread reads now, or NULL.
  _Atomic(const struct mprof_thread *) reading;
  struct mprof_thread_stacks *stacks; // The slots. Written before `active`.
} mprof_round;

// Returns the slot with the number `slot`, if the active round has the number
// `round`. In this case the round does not end before the caller calls
// mprof_round_leave. Otherwise returns NULL, and mprof_round_leave must not be
// called. Signals must be blocked from this call to mprof_round_leave.
struct mprof_thread_slot *mprof_round_enter(unsigned round, unsigned slot);
void mprof_round_leave(void);
// Changes the slot's state from Absent to InProgress, so that the caller may
// fill the slot, and provides memory for a stack of `depth` addresses. Returns
// false if another thread has claimed the slot first.
bool mprof_slot_claim(struct mprof_thread_stacks *s,
                      struct mprof_thread_slot *slot, size_t depth);
// Changes the state of a filled slot from InProgress to Satisfied.
void mprof_slot_satisfy(struct mprof_thread_slot *slot);
// Unwinds the stack of a thread that is in wait w. The leaf of the stack is the
// hooked function in which the thread waits. Returns the number of addresses.
// range: bounds of the stack.
// pcs: receives at most depth addresses.
// end: receives whether the stack is complete or truncated.
size_t mprof_unwind_wait(struct mprof_stack_range *range,
                         const struct mprof_wait *w, mprof_pc *pcs,
                         size_t depth, enum mprof_stack_end *end);
// Stores the kind of wait w and its duration so far in the slot.
void mprof_slot_note_wait(struct mprof_thread_slot *slot,
                          const struct mprof_wait *w);

#endif // MPROF_RT_THREAD_STACKS_THREAD_SLOTS_H
