// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that will never run again, after Go's goroutineleak.
//
//   stuck_locks.c  what a wait is for, and what a lock tells about its holder
//   stuck_graph.c  who waits for whom: threads that wait for a lock or for a
//                  thread, and which of them nobody can ever wake
//   stuck_scan.c   whether a condition, semaphore or barrier can be reached by
//                  a thread that may still run, in a copy of the process
//   stuck.c        both, and a second look at who is accused
//   write_stuck.c  the report
//
// All by one rule: a thread is stuck unless it is shown that it may run. So
// whatever is not understood counts as if it could run, or be reached.

#ifndef MPROF_RT_STUCK_H
#define MPROF_RT_STUCK_H

#include "contention.h"
#include "holds.h"
#include "thread_stacks.h"

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

// --- stuck_graph.c ---

// The index of a registered thread, or MPROF_NO_THREAD.
size_t mprof_stuck_graph_find(const struct mprof_stuck *g, int tid);
// Copies what the registered threads wait for, if they have for age ticks.
// stopped: they stand still, in a round of the caller's, which has the
// registry's lock. 0 or ENOMEM.
int mprof_stuck_graph_take(struct mprof_stuck *g, uint64_t age, bool stopped);
// Grades all threads anew. scanned: is_reached counts; else everything is.
void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned);
// Sets may_run of all that may, with what is_reached says.
void mprof_stuck_graph_settle(struct mprof_stuck *g);
// Numbers the cycles of those that are stuck.
void mprof_stuck_graph_cycles(struct mprof_stuck *g);
// Looks again at those that are stuck, and takes their stacks. 0, ENOMEM, or
// EAGAIN if any waits no more, or elsewhere than its note says: then all is to
// be judged anew.
int mprof_stuck_graph_look_again(struct mprof_stuck *g);
void mprof_stuck_free(struct mprof_stuck *g);

// --- stuck_scan.c ---

// Sets is_reached of all threads in g, which it takes anew while all threads
// stand still. 0, ENOMEM, or ECANCELED, and then unjudged says why.
int mprof_stuck_scan(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);

// --- stuck.c ---

// Between the two the calling thread's frames and registers are the runtime's
// own, but for what caller says, which must stay where it is.
void mprof_stuck_enter(const struct mprof_caller *caller);
void mprof_stuck_leave(void);
// Finds the stuck threads; those that have waited for less than age ticks may
// run. caller: its frame is 0 in a thread of the runtime's own. 0 or ENOMEM.
// Free it with mprof_stuck_free in either case. Call with the guard set.
int mprof_stuck_take(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);
// Whether a thread has waited for so long in what it may never leave.
bool mprof_stuck_may_be(uint64_t age);

// --- stuck_watch.c: the option stuck_report ---

// Starts the thread that looks, if the option asks for it; in a forked child,
// too.
void mprof_stuck_watch_start(void);
// Ends it; it writes nothing any more.
void mprof_stuck_watch_stop(void);

// --- write_stuck.c ---

// What the search did not see, for people, in text, which it returns; NULL if
// there is nothing.
enum { MPROF_UNSEEN_TEXT = 256 };
const char *mprof_unseen_text(char text[MPROF_UNSEEN_TEXT],
                              const struct mprof_thread_stacks *s);

// A file for people; path NULL: to stderr. 0 or an errno value.
int mprof_write_stuck_list(const struct mprof_stuck *g, const char *path);

#endif // MPROF_RT_STUCK_H
