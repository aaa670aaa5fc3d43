// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records contention. The entries of locks and blocking calls report the begin
// and the end of each wait, and the release of each lock. (An entry is the
// function __mprof_f that instrumented code calls in place of f.) The block
// profile shows the waits, with the stack of the thread that waits. The mutex
// profile shows the releases. Its stacks are those of the unlocks that ended
// critical sections for which other threads waited. (Go: blockevent,
// mutexevent)
//
// Any thread may call these functions. If the recursion guard is set, the
// caller runs inside the runtime. Then a function that begins an event does not
// record the event, but counts it in the statistic `reentrant`.

#ifndef MPROF_RT_LOCK_WAIT_CONTENTION_H
#define MPROF_RT_LOCK_WAIT_CONTENTION_H

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "lock_wait/waiters.h"
#include "sys/arch.h"
#include "sys/base.h"

// --- rates ---

// The sampling rates and the sets of kinds (hooked.h). Each field is
// written under registry_lock or once at start.
extern MPROF_HIDDEN struct mprof_contention {
  _Atomic uint64_t block_rate;    // average ticks per sample; 0: off
  _Atomic uint64_t block_rate_ns; // block_rate as it was set, in ns
  // One of this number of releases is sampled; 0: off.
  _Atomic uint64_t mutex_fraction;
  uint64_t block_kinds; // kinds that the block profile records; written once
  // Kinds of locks that are not recorded, because their lock, try and unlock
  // functions are in different modules. Written once at start.
  uint64_t foreign_kinds;
  // Whether the entries (the functions that the program calls in place of
  // hooked functions) report the waits of all kinds, except the kind `try`.
  bool sees_waits;
  // Whether each thread notes its waits, that is, stores the address of each
  // wait in its own record (thread_wait.h). The code that collects the stacks
  // of all threads needs these addresses. Written after sees_waits, so that a
  // thread that notes one wait also reports its next wait.
  atomic_bool notes_waits;
  bool notes_from_start; // notes_waits was set at start; written once at start
} mprof_contention;

// Sets the rates and the sets of kinds from the options. Call at start, while
// no other thread runs. If the option own is set, a thread that has made other
// threads wait for a lock of the profiler keeps the number of ticks that the
// other threads waited. After the thread has released its last lock of the
// profiler, it adds the ticks to the mutex profile.
void mprof_contention_init(void);
// Updates __mprof_sync_kinds, the set of kinds that instrumented code reports.
// Call after a session of the trace has begun or ended. Takes registry_lock.
void mprof_contention_update_kinds(void);
// Sets sees_waits and notes_waits, so that all later waits are noted. Takes
// registry_lock. The first call then sleeps for 10 ms. During this time most
// threads begin a new wait, which is noted.
void mprof_contention_note_waits(void);

// --- waits ---

// The reason why a wait ended.
enum mprof_outcome {
  MPROF_GOT,     // the thread got the lock or the object
  MPROF_TIMEOUT, // a timeout, or any other end without a release
  MPROF_NO_WAIT, // the call failed at once, so the thread did not wait
};

// A wait. The struct is a local variable of the entry. It is used from
// mprof_wait_begin to mprof_wait_end.
struct mprof_wait {
  uint64_t start;              // ticks; 0: nothing is recorded
  struct mprof_bucket *bucket; // bucket of the block profile, or NULL
  uintptr_t op, frame, object; // see mprof_wait_begin
  union {
    uintptr_t joins; // kind join: pthread_t of the awaited thread
    int fd;          // kind io: the file
    uint64_t from;   // other kinds, if is_waiter: see struct mprof_waiter
  };
  // Epoch of the process when the wait began. In a forked child the epoch is
  // another one, and the child ignores the wait.
  uint32_t epoch;
  uint8_t kind;           // enum mprof_kind
  bool is_shared;         // the table counts the wait by its stack `waiter`
  unsigned trace_session; // session of the trace; 0: the wait is not in a trace
  uint32_t trace_stack;   // number of the wait's stack in the trace
  bool is_waiter;         // the wait is counted in the table of waiters
  bool is_late;           // the bucket is looked up only when the wait ends
  // The wait is inside a function that the program marks with mprof_lock,
  // mprof_unlock or mprof_blocking. Such a wait is not recorded.
  bool is_inside;
  // The remaining fields serve the code that collects the stacks of all threads
  // (thread_wait.h).
  bool is_noted; // the wait is noted in the thread's record
  // The profile `locks`: see struct mprof_waiter; 0: it does not need the wait.
  uint32_t waiter;
  // Return address and frame pointer of the entry's caller. These values are
  // copied, because the entry's own frame may be invalid when another thread
  // needs them to unwind this stack.
  uintptr_t pc, fp;
#if !MPROF_RA_IS_PUSHED
  uintptr_t sp; // its stack pointer, mprof_frame_end(frame)
#endif
  // If this wait is in a signal handler: address of the noted wait that the
  // handler has interrupted. 0: there is none.
  uintptr_t outer;
  // Registers of the entry's caller. They are zeros for waits of the kinds user
  // and call.
  struct mprof_saved saved;
};

// The four macros below save the registers of their caller, for the code that
// collects the stacks of all threads. So the entry itself must use them.

// Begins a wait for a lock or another object. If the object has a try function,
// call this after the try function has failed. Unwinds the stack at once if the
// block profile or the trace needs it, because the thread has to wait anyway.
// op: address of the hooked function, which becomes the leaf of the stack.
// frame: frame address of the entry.
// object: the address that is also passed to mprof_release_begin when this
//   object is released; 0: there is no such address.
#define mprof_wait_begin(w, kind, op, frame, object)                           \
  do {                                                                         \
    MPROF_SAVE(&(w)->saved);                                                   \
    mprof_wait_begin_saved((w), (kind), (op), (frame), (object), 0, 0);        \
  } while (0)
// Begins a wait for the futex word `object` while its value is `value`.
#define mprof_futex_begin(w, op, frame, object, value)                         \
  do {                                                                         \
    MPROF_SAVE(&(w)->saved);                                                   \
    mprof_wait_begin_saved((w), MPROF_KIND_futex, (op), (frame), (object), 0,  \
                           (value));                                           \
  } while (0)
// Begins a wait for a condition. mutex: the mutex that the call releases and
// takes again. The wait has two parts. The first part is the wait for the
// condition, and ends at the signal. The second part is the wait for the mutex,
// and is recorded as a wait of the kind mutex with the same stack.
#define mprof_cond_wait_begin(w, op, frame, condition, mutex)                  \
  do {                                                                         \
    MPROF_SAVE(&(w)->saved);                                                   \
    mprof_wait_begin_saved((w), MPROF_KIND_cond, (op), (frame), (condition),   \
                           (mutex), 0);                                        \
  } while (0)
void mprof_wait_begin_saved(struct mprof_wait *w, enum mprof_kind kind,
                            uintptr_t op, uintptr_t frame, uintptr_t object,
                            uintptr_t mutex, uint32_t value);
// Begins a blocking call, which may return without a wait. So the stack is
// unwound only at the end of the call, and only if the wait is sampled. op:
// address of the hooked function. frame: frame address of the entry.
#define mprof_call_begin(w, kind, op, frame)                                   \
  do {                                                                         \
    MPROF_SAVE(&(w)->saved);                                                   \
    mprof_call_begin_saved((w), (kind), (op), (frame));                        \
  } while (0)
void mprof_call_begin_saved(struct mprof_wait *w, enum mprof_kind kind,
                            uintptr_t op, uintptr_t frame);
// Begins a call that waits for the end of another thread. The stack is unwound
// only at the end of the call, and only if the wait is sampled. thread:
// pthread_t of the other thread.
#define mprof_join_begin(w, thread, op, frame)                                 \
  do {                                                                         \
    mprof_call_begin((w), MPROF_KIND_join, (op), (frame));                     \
    (w)->joins = (thread);                                                     \
  } while (0)
// Begins a call that reads or writes the file fd.
#define mprof_io_begin(w, file, op, frame)                                     \
  do {                                                                         \
    mprof_call_begin((w), MPROF_KIND_io, (op), (frame));                       \
    (w)->fd = (file);                                                          \
  } while (0)
// Ends a wait or a blocking call. Does nothing in a child that was forked
// during the wait.
void mprof_wait_end(struct mprof_wait *w, enum mprof_outcome outcome);
// Records a failed call of a try function, as a wait of 1 tick.
void mprof_try_failed(uintptr_t op, uintptr_t frame, uintptr_t object);

// --- releases ---

// A release of a lock, and the charge of the release. The charge is the time
// that other threads have waited for the lock.
struct mprof_release {
  struct mprof_charge charge; // if charge.ticks is 0, nothing is recorded
  uintptr_t object;
};
// Begins a release of `object`. Charges the release with the time that the
// waiters for `object` have waited so far, that is, stores this time in *r.
// Stores the current time as the time of the release. Call before the lock is
// released.
// wakes: the threads that the release wakes.
// op: address of the hooked function, for the trace.
// frame: frame address of the entry.
void mprof_release_begin(struct mprof_release *r, uintptr_t object,
                         enum mprof_wakes wakes, uintptr_t op, uintptr_t frame);
// Ends a release. Call after the lock was released, or after the release has
// failed.
// released: if true, records the charge in the mutex profile, for the stack
//   that begins at `frame` and has `op` as its leaf. If false, the release has
//   failed, so the charge is undone, and a later release is charged instead.
void mprof_release_end(struct mprof_release *r, bool released,
                       enum mprof_kind kind, uintptr_t op, uintptr_t frame);

// Records that the calling thread has taken a lock, for those who want it: the
// search for stuck threads (holds.h) and the profile `locks`
// (below). While any of them does, the word of the lock is not 0.
void mprof_hold_taken(uintptr_t lock, uint8_t kind, unsigned how, uintptr_t op,
                      uintptr_t frame);
// Reports that a wait for a condition has ended, after which the thread has the
// mutex again. w: the wait for the condition, which mprof_wait_end has ended.
void mprof_mutex_retaken(const struct mprof_wait *w, uintptr_t mutex);

// Reports that the calling thread has taken `object` without a wait. If a
// release of `object` has woken another thread, that thread has to keep
// waiting, and the trace must not show its wakeup. Call while the trace is on.
void mprof_release_taken(uintptr_t object);

// --- records ---

// Adds a sampled wait to a bucket. The sample stands for several waits, so the
// values are scaled to all of them. cycles: duration of the wait in ticks.
// rate: average ticks per sample. (Go: saveBlockEventStack)
void mprof_block_add(struct mprof_bucket *b, uint64_t cycles, uint64_t rate);
// Adds a sampled release to a bucket. cycles: charge of the release in ticks.
// fraction: one of this number of releases is sampled, so the added values are
// multiplied by it.
void mprof_mutex_add(struct mprof_bucket *b, uint64_t cycles,
                     uint64_t fraction);
// Decides randomly whether a wait is sampled. A longer wait is more likely to
// be sampled. cycles: duration of the wait in ticks. rate: average ticks per
// sample; 0: off. (Go: blocksampled)
bool mprof_block_sampled(uint64_t cycles, uint64_t rate);

// Sets the rate of the block profile to ns nanoseconds. Returns the previous
// rate. Call with the guard set.
uint64_t mprof_contention_set_block_rate(uint64_t ns);
// Sets the fraction of the mutex profile to n. If n is negative, changes
// nothing. Returns the previous fraction. Call with the guard set.
uint64_t mprof_contention_set_mutex_fraction(int n);

// --- the profiler's own locks (own_locks.c) ---
//
// Contention for the profiler's own locks, which the mutex profile shows with
// the option own.

// Function for mprof_lock_observer: called when the thread has released a lock
// of the profiler. Not called if no other thread has waited for the lock and
// the thread keeps no stack. cycles: ticks that other threads have waited; 0:
// none has waited. frame: frame address of the release.
void mprof_own_lock_released(uint64_t cycles, uintptr_t frame);

// --- the table of the profile locks (lock_pairs.c) ---
//
// The table of the profile `locks`: who waited for a lock, and who held it
// meanwhile. The profile is on while the mutex profile is on. A row is a pair
// of stacks: that of the waiters, and that of the releases for which they
// waited.
//
// A charged release (waiters.h) adds each stack's part of the charge to a row.
// So the rows of a release add up to its value in the mutex profile. The time
// of a wait that no release was charged with, such as the end of a wait that
// timed out, is added to a row without a release. So the rows of a waiter add
// up to its value in the block profile.
//
// Where the holder had taken the lock is known if the acquisition was noted. A
// thread that has waited for the lock notes it, and after a charged release,
// threads note some acquisitions without a wait, too (mprof_note_taken).

// Maximum number of rows. The waits of further pairs are added to one more row,
// whose stacks are not known.
#define MPROF_PAIRS 4096u

// The stacks are handles of buckets (persistent.h); 0: not known.
struct mprof_pair {
  uint32_t next; // handle of the next row of the hash chain
  // A bucket of the block profile. Its kind is cond if the thread waited for
  // the mutex at the end of a wait for a condition.
  uint32_t waiter;
  uint32_t release; // a bucket of the mutex profile
  uint32_t taken;   // where the holder took the lock: a bucket of the block
                    // profile, which need not have waits
  // How often a waiter of this stack has waited for such a release, and the
  // ticks in total. Scaled by mutex_fraction.
  _Atomic uint64_t count, ticks;
  // Ticks that the holders held the lock, and the part of it in which waiters
  // of this stack waited. 0 if `taken` is 0. Scaled.
  _Atomic uint64_t held, held_waiting;
  _Atomic uint64_t worst; // longest time in ticks that one waiter has waited
  _Atomic uint32_t queue; // highest number of waiters for the lock
};

struct mprof_charge;
// Adds the charge of a release. release: its bucket. weight: the number of
// releases for which this one stands.
void mprof_pairs_add_release(const struct mprof_charge *c, uint32_t release,
                             uint64_t weight);
// Adds the ticks of a wait that no release is charged with.
void mprof_pairs_add_rest(uint32_t waiter, uint64_t ticks, uint64_t weight);

// Returns the number of rows.
size_t mprof_pairs_count(void);
// Calls f(row, arg) for each row.
void mprof_pairs_each(void (*f)(const struct mprof_pair *row, void *arg),
                      void *arg);
// Empties the table in a forked child.
void mprof_pairs_reset(void);

#endif // MPROF_RT_LOCK_WAIT_CONTENTION_H
