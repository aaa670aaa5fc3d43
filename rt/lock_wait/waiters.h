// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of waiters has one record for each lock or other object for which
// threads wait now. The object's address is the key. A release is charged with
// the time that all waiters have waited. The record makes it possible to
// compute this charge in constant time, however many waiters there are. An
// object without waiters has no record. (Go: the counts and stamps in sudog and
// semaRoot)
//
// Each slot of the table has its own lock (rank MPROF_RANK_WAITERS).

#ifndef MPROF_RT_LOCK_WAIT_WAITERS_H
#define MPROF_RT_LOCK_WAIT_WAITERS_H

#include "sys/base.h"
#include "trace/trace_events.h"

// --- marks: which release has woken a thread ---
//
// Each release of an object, such as a lock or a condition, adds a mark, which
// refers to the release's record in the trace. The woken thread takes the mark
// and writes its number into that record. Several releases may happen before
// the first woken thread runs, so each object has a list of marks. The list is
// guarded by the lock of the object's slot. The functions here take no lock.

// The threads that a release wakes.
enum mprof_wakes {
  // The thread that takes the lock next. Before each release, some thread has
  // taken the lock, so the thread that takes it next can only have been woken
  // by the last release. Therefore older marks are removed.
  MPROF_WAKES_NEXT_OWNER,
  MPROF_WAKES_ONE, // one waiter, as by pthread_cond_signal or sem_post
  MPROF_WAKES_ALL, // all waiters, as by pthread_cond_broadcast
};

// Maximum number of marks that are kept. If a release adds one more, the oldest
// mark is dropped.
#define MPROF_WAKE_MARKS 8u

struct mprof_wake_marks {
  uint32_t len;
  struct {
    struct mprof_trace_mark mark;
    enum mprof_wakes wakes;
  } marks[MPROF_WAKE_MARKS];    // oldest first
  struct mprof_trace_mark lost; // last mark dropped because marks[] was full
};

void mprof_wake_marks_clear(struct mprof_wake_marks *m);
void mprof_wake_marks_add(struct mprof_wake_marks *m,
                          struct mprof_trace_mark mark, enum mprof_wakes wakes);
// Returns the oldest mark whose release can have woken a thread that began to
// wait at the time `start`, in ticks. Removes the mark if its release wakes
// only one thread. If there is no such mark, the field buf of the result is
// NULL.
struct mprof_trace_mark mprof_wake_marks_take(struct mprof_wake_marks *m,
                                              uint64_t start);
// Removes the oldest mark if its release wakes only one thread. Call this when
// a thread that did not wait has taken the object, because the woken thread
// then has to keep waiting.
void mprof_wake_marks_skip(struct mprof_wake_marks *m);

// --- waiters in the table ---
//
// Each function here takes the lock of the object's slot. Call all functions
// with the guard set.

// Maximum number of signals of a condition whose woken threads have not yet
// returned from pthread_cond_wait. Further signals are not listed, and the
// threads that they wake are not counted as waiters for the mutex.
#define MPROF_SIGNALS 16u

// Maximum number of different stacks of the threads that a signal has woken.
// The stacks of further woken threads are not known to the profile `locks`.
#define MPROF_SIGNAL_STACKS 4u

// Such a signal.
struct mprof_signal {
  uint64_t id;     // no other signal of the process has this number
  uint64_t time;   // ticks
  uintptr_t mutex; // the mutex for which the woken threads wait
  uint32_t woken;  // woken threads of this signal that have not returned
  bool is_counted; // the woken threads are counted as waiters for the mutex
  // Only in a result of mprof_waiters_leave: the stack by which the thread is
  // counted as a waiter for the mutex (struct mprof_waiter); 0: none.
  uint32_t waiter;
  uint64_t from; // of the waiters for the mutex (struct mprof_waiter)
  // The stacks of the woken threads. `n` of the threads have the stack. A
  // signal that wakes one thread is assumed to wake one of the stack that has
  // waited longest.
  struct {
    uint32_t waiter, n;
  } stacks[MPROF_SIGNAL_STACKS];
};

// Waiters for an object are counted by their stacks, for the profile `locks`.
// For one object, at most this number of stacks is told apart.
#define MPROF_WAITER_STACKS 16u

// A waiter, by its stack.
struct mprof_waiter {
  // Handle (persistent.h) of the bucket of the block profile with the stack of
  // the waiter. 0: the waiter is counted without its stack. mprof_waiters_enter
  // changes it to 0 if there are too many stacks.
  uint32_t stack;
  // Set by mprof_waiters_enter: time in ticks from which on the waiter is part
  // of charges. It is later than the begin of the wait if a release was charged
  // between.
  uint64_t from;
  // Set by mprof_waiters_leave: the ticks of the waiter in charges to releases,
  // if it was counted by its stack.
  uint64_t charged;
};

// Adds the calling thread to the waiters for object. Returns false if there is
// no memory.
// mutex: if object is a condition, the mutex that the thread releases for the
//   time of the wait; otherwise 0. A signal then counts the thread as a waiter
//   for the mutex; see mprof_waiters_count_woken.
// start: time at which the wait began, in ticks.
// who: the stack of the waiter; NULL: counts the waiter without its stack.
bool mprof_waiters_enter(uintptr_t object, uintptr_t mutex, uint64_t start,
                         struct mprof_waiter *who);
// Stores the value of the futex word `object` at which a thread begins to wait,
// for mprof_charge.has_fallen. Call after mprof_waiters_enter.
void mprof_waiters_expect(uintptr_t object, uint32_t value);
// Removes the calling thread from the waiters for object. Returns the time, in
// ticks, of the last release of object to which waiting time was charged, or 0
// if there was none since start.
// start: the value that was passed to mprof_waiters_enter.
// mark: receives the mark that links this thread's wakeup to the release that
//   caused it. NULL: the wait did not end by a release.
// signal: for a condition, receives the signal that has woken this thread. If
//   no signal has woken the thread, signal->time becomes 0. If
//   signal->is_counted, the caller must remove the thread from the waiters for
//   signal->mutex, too. NULL: the object is not a condition.
// who: as mprof_waiters_enter has left it; NULL: without a stack.
uint64_t mprof_waiters_leave(uintptr_t object, uint64_t start,
                             struct mprof_trace_mark *mark,
                             struct mprof_signal *signal,
                             struct mprof_waiter *who);

// The waiters of one stack, in a charge.
struct mprof_share {
  uint32_t stack; // as in struct mprof_waiter
  uint32_t n;     // number of the waiters
  // Their part of the charge. The sum of all parts is the charge.
  uint64_t ticks;
  uint64_t worst; // longest time in ticks that one of them has waited
};
// The parts of a charge by the stacks of the waiters.
struct mprof_shares {
  struct mprof_shares *next; // in the list of unused ones
  uint32_t queue;            // number of all waiters
  uint32_t len;
  struct mprof_share v[MPROF_WAITER_STACKS + 1];
  // Set by the caller: where and when the releasing thread had taken the lock.
  uint32_t taken; // handle of a bucket; 0: not known
  uint64_t since; // ticks
};

// The charge of a release, that is, the time that other threads have waited.
struct mprof_charge {
  uint64_t ticks; // total ticks that the waiters have waited; 0: no charge
  uint64_t stamp; // time of this release, in ticks
  // If the release is a signal of a condition: the signal. woken is 0 if the
  // signal has woken no thread.
  struct mprof_signal signal;
  // The object is a futex that a thread waits for with mprof_waiters_expect,
  // and its word is not above the value at which the thread began to wait. The
  // word of a lock falls when the lock is released. The word of a condition or
  // an event is a counter, or rises from 0.
  bool has_fallen;
  // The parts of the charge by the stacks of the waiters; NULL: not known. Give
  // them back by mprof_waiters_forget_shares.
  struct mprof_shares *shares;
};
// Computes the charge of a release of object that is about to happen: the total
// time that the waiters have waited. For each waiter, this time begins with its
// wait or with the last charged release, whichever is later. Stores the current
// time as the time of the last charged release.
// wakes: the threads that the release wakes.
// waker: the releasing thread in the trace. If a thread waits, records the
//   release in the trace and adds a mark, which links the wakeup to the
//   release. NULL: the release is not traced.
// wants_shares: whether the profile `locks` is on. If the object is a lock, the
//   result has shares, and the next acquisitions of locks of this slot are to
//   be noted (lock_order.h).
struct mprof_charge mprof_waiters_charge(uintptr_t object,
                                         enum mprof_wakes wakes,
                                         const struct mprof_trace_waker *waker,
                                         bool wants_shares);
void mprof_waiters_forget_shares(uintptr_t object, struct mprof_shares *shares);
// Adds the threads that a signal of `condition` wakes to the waiters for the
// condition's mutex, because a woken thread needs the mutex before it can
// return. Call after mprof_waiters_charge, whose result contains *signal, and
// before the signal is sent.
void mprof_waiters_count_woken(uintptr_t condition,
                               const struct mprof_signal *signal);
// Undoes the call of mprof_waiters_charge that has returned c, because the
// release has failed. Does nothing if another release of object was charged
// since.
void mprof_waiters_uncharge(uintptr_t object, const struct mprof_charge *c);

// Removes the oldest mark of object if the mark's release wakes only one
// thread. A mark links a wakeup to the release that caused it.
// Call this when a thread that did not wait has taken the object, because the
// woken thread then has to keep waiting.
void mprof_waiters_skip(uintptr_t object);

// Adds the calling thread to the count of threads that hold object or are about
// to hold it. Returns whether the count was above 0 before.
// mprof_waiters_let_go removes the thread from the count. Used for locks that
// the program marks with mprof_lock, because the runtime has no try function
// that tells whether such a lock is held.
bool mprof_waiters_hold(uintptr_t object);
void mprof_waiters_let_go(uintptr_t object);

// Returns a number for the object's slot. It changes when acquisitions of the
// slot's locks stop being noted (MPROF_WAITER_NOTES). A note of an acquisition
// is valid only while the number is the same, because later releases pass
// unseen.
uint32_t mprof_waiters_epoch(uintptr_t object);
// Tells that an acquisition of a lock was noted. After some acquisitions
// without a charged release, acquisitions of the slot's locks are no longer
// noted.
void mprof_waiters_noted(uintptr_t object);

// Empties the table in a forked child, because no thread waits in the child.
void mprof_waiters_reset(void);

#endif // MPROF_RT_LOCK_WAIT_WAITERS_H
