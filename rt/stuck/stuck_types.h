// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the search for stuck threads works on.

#ifndef MPROF_RT_STUCK_STUCK_TYPES_H
#define MPROF_RT_STUCK_STUCK_TYPES_H

#include "wait/contention.h"
#include "wait/holds.h"
#include "wait/thread_stacks.h"

enum mprof_stuck_grade {
  MPROF_MAY_RUN,
  MPROF_STUCK_LIKELY, // by the records of holds.h, or by what can be reached
  MPROF_STUCK_CERTAIN,
};

// "certain", "likely"; "" for one that may run.
static inline const char *mprof_stuck_grade_name(unsigned grade) {
  return grade == MPROF_STUCK_CERTAIN  ? "certain"
         : grade == MPROF_STUCK_LIKELY ? "likely"
                                       : "";
}

// What a thread waits for, as far as it can be told that nobody will give it.
enum mprof_awaited {
  MPROF_AWAITS_NOTHING, // it runs, or waits for what is not understood
  MPROF_AWAITS_MUTEX,
  MPROF_AWAITS_READ, // of an rwlock
  MPROF_AWAITS_WRITE,
  MPROF_AWAITS_SPIN,
  MPROF_AWAITS_USER,   // a lock of the program's
  MPROF_AWAITS_THREAD, // its end
  MPROF_AWAITS_OBJECT, // a condition, semaphore or barrier
};

enum mprof_holder {
  MPROF_HOLDER_UNKNOWN,
  MPROF_HOLDER_THREAD, // that in `of`
  MPROF_HOLDER_GONE,   // it has ended
  // One of those that records name, or all of them.
  MPROF_HOLDER_RECORDED,
};

// A thread that holds a lock, by a record of holds.h.
struct mprof_stuck_hold {
  uintptr_t lock;
  uint64_t since; // ticks
  size_t thread;  // its index
};

#define MPROF_NO_THREAD SIZE_MAX

struct mprof_stuck_thread {
  struct mprof_thread *thread;
  int tid;
  uintptr_t pthread;
  uintptr_t at;           // of its wait; 0: it is in none
  struct mprof_wait wait; // a copy
  struct mprof_stack_range range;
  uint8_t awaited; // enum mprof_awaited
  uint8_t holder;  // enum mprof_holder, of the lock, or who is joined
  uint8_t grade;   // enum mprof_stuck_grade
  bool is_reached; // the object, by a thread that may run
  bool may_run;    // for the time being
  // It asks for this, in the handler of dump_on_signal, which has interrupted
  // the wait: what it has is what the wait's caller has.
  bool is_interrupted;
  // Of HOLDER_RECORDED: whether the thread is stuck with the first of them that
  // is, or only when all are.
  bool needs_all;
  uint32_t holds_len;
  size_t holds; // the first one's index
  int holder_tid;
  size_t of;                      // the holder's index, or MPROF_NO_THREAD
  size_t walk;                    // that has come by, from 1 on
  size_t cycle;                   // its number from 1 on; 0: it is in none
  struct mprof_thread_slot *slot; // of its stack; NULL unless it is stuck
};

// Why conditions and the like were not judged.
enum mprof_unjudged {
  MPROF_JUDGED,
  MPROF_UNJUDGED_THREAD, // one could not be read: `unread`
  MPROF_UNJUDGED_URING,  // the kernel has addresses that nobody can ask for
  MPROF_UNJUDGED_PROC,   // /proc does not say enough
  MPROF_UNJUDGED_PIPE,   // what is in one cannot be copied
  MPROF_UNJUDGED_MEMORY, // or time
  MPROF_UNJUDGED_BUSY,   // they waited no more, time and again
};

struct mprof_stuck {
  struct mprof_stuck_thread *v; // all registered threads
  size_t len, cap, mapped_bytes;
  uint32_t *by_tid, *by_pthread;   // number + 1, open addressing
  size_t index_size;               // a power of two
  struct mprof_stuck_hold **holds; // sorted by lock, the newest first
  size_t holds_len, holds_bytes;
  size_t lost_holds; // locks that are held and have no record
  size_t stuck, certain, likely, cycles;
  enum mprof_unjudged unjudged;
  int unread;
  int64_t time_ns;
  // The stacks of those that are stuck, as in the profile threads.
  struct mprof_thread_stacks stacks;
};

#endif // MPROF_RT_STUCK_STUCK_TYPES_H
