// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds stuck threads: threads that will never run again. Modeled on Go's
// goroutineleak.
//
//   stuck_locks.c  finds the object that a thread waits for, and the holder
//                  of a lock
//   stuck_unnoted.c
//                  finds the lock for which a thread waits, if the runtime has
//                  not recorded the wait
//   stuck_graph.c  builds the graph of threads that wait for a lock or for a
//                  thread, and finds the threads that no other thread can wake
//   stuck_blocks.c finds malloc's blocks in a copy of the process
//   stuck_memory.c finds the memory areas and the stacks in this copy, and
//                  searches its words for addresses of blocks
//   stuck_scan.c   searches this copy, and what the kernel stores, for the
//                  conditions, semaphores and barriers that a thread that may
//                  run can still reach
//   stuck.c        calls all steps, and checks the threads found stuck again
//   watch.c        repeats the search at intervals, for the option stuck_report
//   kind_threadleak.c
//                  writes the report
//
// All these files follow one rule: a thread counts as stuck only if nothing
// shows that it may run. If the search does not understand what a thread does,
// the thread counts as able to run. If the search does not understand some
// memory, the memory counts as reachable.

#ifndef MPROF_RT_STUCK_STUCK_H
#define MPROF_RT_STUCK_STUCK_H

#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_wait.h"

enum mprof_stuck_grade {
  MPROF_MAY_RUN,
  MPROF_STUCK_LIKELY, // found with hold records (holds.h) or the memory
                      // search
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
  // Some or all of the threads that hold the lock according to holds.h.
  MPROF_HOLDER_RECORDED,
};

// A copy of a record of holds.h. The record says that a thread holds a
// lock.
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

// --- the graph (stuck_graph.c) ---
//
// Builds the graph of waiting threads, to find the threads that no other thread
// can ever wake. An edge of the graph leads from a waiting thread to the holder
// of the awaited lock, or to the thread that the waiting thread joins. The
// functions mprof_stuck_graph_* are called in this order:
//
//   take ---> judge ---> look_again ---> cycles
//               ^             |
//               +-- -EAGAIN --+
//
//   take        stuck_graph.c copies the recorded waits of all registered
//               threads, and finds the locks of waits that the threads have not
//               recorded (stuck_unnoted.c). It also finds the holder of each
//               awaited lock.
//   judge, cycles
//               stuck_graph.c computes which threads may run. All other threads
//               are stuck, because they wait for one another or for threads
//               that have ended.
//   look_again  stuck.c checks that the threads found stuck still
//               wait, and takes their stacks.
//
// Call all functions with the guard set.

// Returns the index in g->v of the thread with id tid, or MPROF_NO_THREAD.
size_t mprof_stuck_graph_find(const struct mprof_stuck *g, int tid);
// Returns the index in g->v of the thread with this pthread_t, or
// MPROF_NO_THREAD.
size_t mprof_stuck_graph_find_pthread(const struct mprof_stuck *g,
                                      uintptr_t pthread);
// Copies the waits of all registered threads that have lasted for at least age
// ticks, and finds the holders of the awaited locks. If age is 0, also finds
// the locks of unnoted waits (waits that the threads have not recorded),
// because their age is unknown. Returns 0 or -ENOMEM.
// stopped: the slots of all threads, if the caller has stopped all threads and
//   holds registry_lock. NULL: the threads are not stopped, and the function
//   itself takes stacks_lock and registry_lock.
int mprof_stuck_graph_take(struct mprof_stuck *g, uint64_t age,
                           const struct mprof_thread_stacks *stopped);
void mprof_stuck_free(struct mprof_stuck *g);

// Takes stacks_lock, so that no other thread collects stacks, and
// registry_lock, so that no thread ends. First blocks all signals, because a
// slow signal handler would delay the threads that wait for these locks.
// Returns the signal mask, which mprof_stuck_unlock_threads restores.
uint64_t mprof_stuck_lock_threads(void);
void mprof_stuck_unlock_threads(uint64_t mask);

// Returns whether the field `wait` of struct mprof_thread has the address of a
// wait.
static inline bool mprof_stuck_has_wait(uintptr_t w) {
  return w != 0 && w != MPROF_WAIT_ASKED;
}
// Returns the address of the outermost wait of kind user around the wait at w,
// or w if there is none. A function with the attribute mprof_lock has a wait of
// kind user. Inside this wait, the function may itself wait, for example for a
// mutex: this is the wait at w. The thread cannot leave the outer wait before
// it leaves w. The bit MPROF_WAIT_HELD of the thread's wait must be set, or all
// threads must be stopped, because w is on the stack of the thread.
uintptr_t mprof_stuck_whole_wait(uintptr_t w);

// --- which threads are stuck ---
//
// These functions take no lock, because only the calling thread uses the graph.

// Sets the grade of each thread, which says whether the thread is stuck.
// scanned: true: mprof_stuck_scan has set is_reached of all threads. false:
//   memory was not searched, so every awaited object counts as reached.
void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned);
// Sets may_run of all threads, based on the current values of is_reached.
void mprof_stuck_graph_settle(struct mprof_stuck *g);
// Finds the cycles of stuck threads and numbers them.
void mprof_stuck_graph_cycles(struct mprof_stuck *g);

// --- the states of locks (stuck_locks.c) ---
//
// Answers three questions for the graph of waiting threads:
// - For which kind of object does a thread in a hooked function wait?
// - Which thread holds a lock, according to the memory of the lock?
// - Does the kernel's futex call, in which a thread sleeps, wait for an address
//   inside the object?
// The functions here only read locks and never change them.
//
// The memory of a mutex contains the thread id of its owner. The memory of an
// rwlock contains the thread id of its writer. The records of holds.h are
// needed to know the readers of an rwlock, and the holders of spin locks and of
// the program's own locks.

// Returns the kind of object that a thread waits for in the hooked function op.
// kind: an enum mprof_kind. Returns MPROF_AWAITS_NOTHING if op has a timeout.
enum mprof_awaited mprof_awaited_of(uintptr_t op, uint8_t kind);
// Returns the kind of lock that the hooked function op takes. op may also be a
// function such as pthread_mutex_trylock. kind: an enum mprof_kind.
enum mprof_awaited mprof_taken_of(uintptr_t op, uint8_t kind);

// The holder of a lock, as read from the lock's memory. The memory may contain
// anything. So tid is only used to look for a living thread with this id.
struct mprof_lock_holder {
  int tid; // id of the holder; 0: the memory names no holder
  // True if the lock is robust or shared between processes. The waiters of such
  // a lock may wake even if the holder is dead.
  bool may_change;
  bool is_held;
  uint32_t readers; // number of readers of an rwlock; 1 for other locks
};
// Reads the holder of the lock at the address lock. `awaited` tells the kind of
// lock. All fields of the result are 0 if the memory is not readable, or if
// `awaited` is not a kind of lock.
struct mprof_lock_holder mprof_lock_holder_of(uintptr_t lock,
                                              enum mprof_awaited awaited);
// Returns whether thread t still holds the lock of its record h. If the lock's
// memory names a holder, the memory decides. Otherwise the record decides.
bool mprof_stuck_holds(const struct mprof_stuck_thread *t,
                       const struct mprof_hold *h);

// Returns whether thread x sleeps, without a timeout, in a futex call on the
// object that x waits for. If x is the calling thread, a signal handler has
// interrupted its wait. Then the result tells whether x will sleep in this call
// again after the handler. Always returns true for spin locks and the program's
// own locks, because their waiters need not sleep.
bool mprof_stuck_sleeps(struct mprof_stuck_thread *x);

// --- unnoted waits (stuck_unnoted.c) ---
//
// Finds the lock for which a thread waits, if the wait is unnoted: the thread
// has not stored the address of its struct mprof_wait in its record
// (thread_wait.h). Most programs do not prepare for a hang, so all their waits
// are unnoted. The kernel shows the futex in which a thread sleeps. The
// thread's stack shows that pthread_mutex_lock or a function for rwlocks sleeps
// there. The address of the lock follows from the address of the futex. Only
// locks of glibc are understood.

// If thread x sleeps in an unnoted wait for a lock (a wait that x has not
// stored in its record), sets the fields of x that describe the wait. Otherwise
// does not change x.
// slot: slot of the thread, which is stopped. NULL: the thread is not stopped.
void mprof_stuck_unnoted_find(struct mprof_stuck_thread *x,
                              const struct mprof_thread_slot *slot);
// Returns whether thread x still sleeps in its unnoted wait. Stores in x the
// number of times that the thread has slept.
bool mprof_stuck_unnoted_sleeps(struct mprof_stuck_thread *x);
// Returns whether thread x has slept without a break since the last call of
// mprof_stuck_unnoted_sleeps.
bool mprof_stuck_unnoted_has_slept(const struct mprof_stuck_thread *x);
// Stores in the slot a stack of at most two addresses: the hooked function in
// which the stuck thread x waits, and the caller of this function, if the
// caller is known.
void mprof_stuck_unnoted_stack(const struct mprof_stuck_thread *x,
                               struct mprof_thread_slot *slot, size_t depth);
// Completes the stacks of the stuck threads in unnoted waits (waits that the
// threads have not stored in their records). Collects the stacks of all
// threads, because only the threads themselves can unwind these stacks safely.
// Does nothing if no stuck thread is in an unnoted wait. Takes stacks_lock.
void mprof_stuck_unnoted_complete(struct mprof_stuck *g,
                                  const struct mprof_caller *caller);

// --- the whole search (stuck.c) ---

// Tell the search that the calling thread enters or leaves the runtime. Between
// these two calls, the thread's current frames and registers are the runtime's,
// not the program's. *caller holds the program's registers and the address of
// the program's frames. *caller must stay valid until mprof_stuck_leave is
// called. Pairs of these calls may nest.
void mprof_stuck_enter(const struct mprof_caller *caller);
void mprof_stuck_leave(void);
// Finds the stuck threads and stores the result in *g. May stop all threads for
// a moment. Returns 0 or -ENOMEM. In either case free *g with mprof_stuck_free.
// Call with the guard set.
// caller: the program's frames and registers in the calling thread.
//   caller->frame is 0 in a thread that belongs to the runtime.
// age: a time in ticks. A thread that has waited for less than this time counts
//   as able to run.
int mprof_stuck_take(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);
// The result of a search that only reads the waits that the threads have
// recorded (thread_wait.h), and does not search memory.
struct mprof_stuck_signs {
  bool is_stuck; // some threads that wait for locks or for threads are stuck
  // Time in ticks at which the last of the waits for conditions, semaphores and
  // barriers began. Only a search of memory can judge these waits. 0: no such
  // waits.
  uint64_t newest;
};
// Finds the signs of stuck threads among the waits that have lasted for at
// least `age` ticks. Stops no thread. Call with the recursion guard set.
struct mprof_stuck_signs mprof_stuck_look(uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_H
