// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the data of the search for stuck threads (stuck.h): the threads,
// their waits, and their grades. A grade says whether a thread is stuck.
// The steps that stuck_graph.h lists fill these structs.

#ifndef MPROF_RT_STUCK_STUCK_TYPES_H
#define MPROF_RT_STUCK_STUCK_TYPES_H

#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "thread_stacks/thread_stacks.h"

enum mprof_stuck_grade {
  MPROF_MAY_RUN,
  MPROF_STUCK_LIKELY, // found with hold records (holds.h) or the memory search
  MPROF_STUCK_CERTAIN,
};

// Returns "certain" or "likely", or "" for the grade MPROF_MAY_RUN.
static inline const char *mprof_stuck_grade_name(unsigned grade) {
  return grade == MPROF_STUCK_CERTAIN  ? "certain"
         : grade == MPROF_STUCK_LIKELY ? "likely"
                                       : "";
}

// The kind of object that a thread waits for. For objects of these kinds, the
// search can show that no thread will ever release or signal them.
enum mprof_awaited {
  MPROF_AWAITS_NOTHING, // no wait, or a wait that is not understood
  MPROF_AWAITS_MUTEX,
  MPROF_AWAITS_READ,  // an rwlock, for reading
  MPROF_AWAITS_WRITE, // an rwlock, for writing
  MPROF_AWAITS_SPIN,
  MPROF_AWAITS_USER,   // a lock that the program marks with mprof_lock
  MPROF_AWAITS_THREAD, // the end of another thread
  MPROF_AWAITS_OBJECT, // a condition, semaphore or barrier
};

static inline bool mprof_awaits_lock(enum mprof_awaited awaited) {
  return awaited != MPROF_AWAITS_NOTHING && awaited != MPROF_AWAITS_THREAD &&
         awaited != MPROF_AWAITS_OBJECT;
}

// The holder of the lock that a thread waits for. If a thread waits for the end
// of another thread, that other thread counts as the holder.
enum mprof_holder {
  MPROF_HOLDER_UNKNOWN,
  MPROF_HOLDER_THREAD, // the thread whose index is in the field `of`
  MPROF_HOLDER_GONE,   // a thread that has ended
  // Some or all of the threads that hold the lock according to the records of
  // holds.h.
  MPROF_HOLDER_RECORDED,
};

// A copy of a record of holds.h. The record says that a thread holds a lock.
struct mprof_stuck_hold {
  uintptr_t lock;
  uint64_t since; // time at which the lock was taken, in ticks
  size_t thread;  // index of the holder in the field v of struct mprof_stuck
};

#define MPROF_NO_THREAD SIZE_MAX

struct mprof_stuck_thread {
  // The thread's record. NULL: the thread is not in the registry.
  struct mprof_thread *thread;
  int tid;
  uintptr_t pthread; // the thread's pthread_t; 0: unknown
  uintptr_t at; // address of the struct mprof_wait; 0: the thread does not wait
  struct mprof_wait wait; // copy of the wait
  struct mprof_stack_range range;
  uint8_t awaited; // enum mprof_awaited
  uint8_t holder;  // enum mprof_holder
  uint8_t grade;   // enum mprof_stuck_grade
  bool is_reached; // a thread that may run can reach the awaited object
  bool may_run;    // current result of the search: the thread may run
  // True: the signal handler of dump_on_signal runs in this thread and has
  // started the search. The signal has interrupted the thread's wait, so the
  // thread's registers are taken from `wait`.
  bool is_interrupted;
  // True: the thread has not recorded its wait, but stuck_unnoted.c has found
  // the wait. In this case `at` is 0, and only these fields of `wait` are set:
  // op, kind, object and pc. The field pc is 0 if the caller is unknown.
  bool is_unnoted;
  // Only for an unnoted wait. futex: address of the futex in which the thread
  // sleeps. sp: stack pointer in the system call. sleeps: how often the thread
  // had gone to sleep before mprof_stuck_unnoted_sleeps was called.
  uintptr_t futex, sp;
  uint64_t sleeps;
  // Only for MPROF_HOLDER_RECORDED. True: the thread is stuck only if all
  // recorded holders are stuck. False: the thread is stuck if at least one
  // recorded holder is stuck.
  bool needs_all;
  uint32_t holds_len; // number of recorded holders, in mprof_stuck.holds
  size_t holds;       // index of the first recorded holder in mprof_stuck.holds
  int holder_tid;
  size_t of; // index of the holder in mprof_stuck.v, or MPROF_NO_THREAD
  // Number of the walk in which mprof_stuck_graph_cycles has visited this
  // thread; 0: none.
  size_t walk;
  size_t cycle; // number of the cycle that the thread is in; 0: none
  struct mprof_thread_slot *slot; // stack of a stuck thread; otherwise NULL
};

// The reason why the search did not decide which of the threads that wait for
// conditions, semaphores and barriers are stuck.
enum mprof_unjudged {
  MPROF_JUDGED,
  // It is unknown which memory the thread with the id `unread` can reach.
  MPROF_UNJUDGED_THREAD,
  // The program uses io_uring or aio, whose requests may have addresses that
  // the search cannot read.
  MPROF_UNJUDGED_URING,
  MPROF_UNJUDGED_PROC,   // a file of /proc could not be read
  MPROF_UNJUDGED_PIPE,   // the contents of a pipe could not be copied
  MPROF_UNJUDGED_MEMORY, // not enough memory, or the search took too long
  MPROF_UNJUDGED_BUSY,   // each check found a thread that no longer waited
};

struct mprof_stuck {
  // All registered threads. If the search was called with the minimum wait time
  // 0 (parameter `age`), also the threads that are not registered.
  struct mprof_stuck_thread *v;
  size_t len, cap, mapped_bytes;
  uint32_t *by_tid, *by_pthread; // hash tables; values are 1 + index in v
  size_t index_size; // number of entries of each hash table; a power of two
  struct mprof_stuck_hold **holds; // sorted by lock, then newest first
  size_t holds_len, holds_bytes;
  size_t lost_holds; // number of held locks that have no record
  // Numbers of all stuck threads, of those with the grades "certain" and
  // "likely", and of deadlock cycles.
  size_t stuck, certain, likely, cycles;
  enum mprof_unjudged unjudged;
  int unread;      // id of the thread, for MPROF_UNJUDGED_THREAD
  int64_t time_ns; // time of the search: nanoseconds of CLOCK_REALTIME
  // The stacks of the stuck threads, in the form of the profile "threads".
  struct mprof_thread_stacks stacks;
};

#endif // MPROF_RT_STUCK_STUCK_TYPES_H
