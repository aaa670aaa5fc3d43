// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the data of the search for stuck threads (stuck.h): the threads,
// their waits, and their grades. stuck_graph.c fills these structs.

#ifndef MPROF_RT_STUCK_STUCK_TYPES_H
#define MPROF_RT_STUCK_STUCK_TYPES_H

#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "thread_stacks/thread_stacks.h"

enum mprof_stuck_grade {
  MPROF_MAY_RUN,
  MPROF_STUCK_LIKELY, // found by records of holds.h, or by the memory search
  MPROF_STUCK_CERTAIN,
};

// Returns "certain" or "likely"; "" for a thread that may run.
static inline const char *mprof_stuck_grade_name(unsigned grade) {
  return grade == MPROF_STUCK_CERTAIN  ? "certain"
         : grade == MPROF_STUCK_LIKELY ? "likely"
                                       : "";
}

// The thing that a thread waits for, if the search can show that no thread will
// ever provide it.
enum mprof_awaited {
  MPROF_AWAITS_NOTHING, // the thread runs, or its wait is not understood
  MPROF_AWAITS_MUTEX,
  MPROF_AWAITS_READ,  // an rwlock, to read
  MPROF_AWAITS_WRITE, // an rwlock, to write
  MPROF_AWAITS_SPIN,
  MPROF_AWAITS_USER,   // a lock of the program's own
  MPROF_AWAITS_THREAD, // the end of a thread
  MPROF_AWAITS_OBJECT, // a condition, semaphore or barrier
};

// The holder of the lock that a thread waits for.
enum mprof_holder {
  MPROF_HOLDER_UNKNOWN,
  MPROF_HOLDER_THREAD, // the thread in `of`
  MPROF_HOLDER_GONE,   // a thread that has ended
  // some or all of the threads that have a record of the lock (holds.h)
  MPROF_HOLDER_RECORDED,
};

// A copy of a record of holds.h, which says that a thread holds a lock.
struct mprof_stuck_hold {
  uintptr_t lock;
  uint64_t since; // ticks
  size_t thread;  // index of the holder in the threads of the search
};

#define MPROF_NO_THREAD SIZE_MAX

struct mprof_stuck_thread {
  struct mprof_thread *thread;
  int tid;
  uintptr_t pthread;
  uintptr_t at;           // address of the struct mprof_wait; 0: does not wait
  struct mprof_wait wait; // copy of the wait
  struct mprof_stack_range range;
  uint8_t awaited; // enum mprof_awaited
  uint8_t holder;  // enum mprof_holder: holder of the lock, or joined thread
  uint8_t grade;   // enum mprof_stuck_grade
  bool is_reached; // a thread that may run can reach the awaited object
  bool may_run;    // current result of the search
  // True: this thread started the search for stuck threads from the signal
  // handler of dump_on_signal, and the signal interrupted the thread's wait.
  // The thread's registers are then taken from `wait`.
  bool is_interrupted;
  // For MPROF_HOLDER_RECORDED. True: the thread is stuck only if all recorded
  // holders are stuck. False: the thread is stuck if any recorded holder is
  // stuck.
  bool needs_all;
  uint32_t holds_len; // number of recorded holders, in `holds` of the search
  size_t holds;       // index of the first recorded holder
  int holder_tid;
  size_t of;    // index of the holder, or MPROF_NO_THREAD
  size_t walk;  // number of the walk that visited the thread; 0: none so far
  size_t cycle; // number of the cycle that the thread is in; 0: none
  struct mprof_thread_slot *slot; // stack of a stuck thread; otherwise NULL
};

// The reason why conditions, semaphores and barriers were not judged.
enum mprof_unjudged {
  MPROF_JUDGED,
  MPROF_UNJUDGED_THREAD, // the thread `unread` could not be read
  MPROF_UNJUDGED_URING,  // io_uring or aio: its addresses cannot be read
  MPROF_UNJUDGED_PROC,   // a file of /proc cannot be read
  MPROF_UNJUDGED_PIPE,   // the contents of a pipe cannot be copied
  MPROF_UNJUDGED_MEMORY, // no memory, or the search took too long
  MPROF_UNJUDGED_BUSY,   // at each check, some thread no longer waited
};

struct mprof_stuck {
  struct mprof_stuck_thread *v; // all registered threads
  size_t len, cap, mapped_bytes;
  uint32_t *by_tid, *by_pthread;   // hash tables of 1 + index in v
  size_t index_size;               // a power of two
  struct mprof_stuck_hold **holds; // sorted by lock, then newest first
  size_t holds_len, holds_bytes;
  size_t lost_holds; // number of held locks without a record
  size_t stuck, certain, likely, cycles; // number of threads; number of cycles
  enum mprof_unjudged unjudged;
  int unread;      // thread id, for MPROF_UNJUDGED_THREAD
  int64_t time_ns; // CLOCK_REALTIME
  // The stacks of the stuck threads, in the form of the profile "threads".
  struct mprof_thread_stacks stacks;
};

#endif // MPROF_RT_STUCK_STUCK_TYPES_H
