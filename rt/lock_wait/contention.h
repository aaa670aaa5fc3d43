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
#include "sys/arch.h"
#include "sys/base.h"
#include "sys/message.h"
#include "thread/threads.h"
#include "trace/trace_events.h"

// --- the table of waiters (waiters.c) ---
//
// The table has one record for each lock or other object for which threads wait
// now. The object's address is the key. A release is charged with the time that
// all waiters have waited. The record makes it possible to compute this charge
// in constant time, however many waiters there are. An object without waiters
// has no record. (Go: the counts and stamps in sudog and semaRoot)
//
// Each slot of the table has its own lock (rank MPROF_RANK_WAITERS).

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

// Such a signal.
struct mprof_signal {
  uint64_t id;     // no other signal of the process has this number
  uint64_t time;   // ticks
  uintptr_t mutex; // the mutex for which the woken threads wait
  uint32_t woken;  // woken threads of this signal that have not returned
  bool is_counted; // the woken threads are counted as waiters for the mutex
};

// Adds the calling thread to the waiters for object. Returns false if there is
// no memory.
// mutex: if object is a condition, the mutex that the thread releases for the
//   time of the wait; otherwise 0. A signal then counts the thread as a waiter
//   for the mutex; see mprof_waiters_count_woken.
// start: time at which the wait began, in ticks.
bool mprof_waiters_enter(uintptr_t object, uintptr_t mutex, uint64_t start);
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
uint64_t mprof_waiters_leave(uintptr_t object, uint64_t start,
                             struct mprof_trace_mark *mark,
                             struct mprof_signal *signal);

// The charge of a release, that is, the time that other threads have waited.
struct mprof_charge {
  uint64_t ticks; // total ticks that the waiters have waited; 0: no charge
  // Times, in ticks, of this release and of the previous release of the same
  // lock that was charged. mprof_waiters_uncharge uses these times.
  uint64_t stamp, before;
  // If the release is a signal of a condition: the signal. woken is 0 if the
  // signal has woken no thread.
  struct mprof_signal signal;
};
// Computes the charge of a release of object that is about to happen: the total
// time that the waiters have waited. For each waiter, this time begins with its
// wait or with the last charged release, whichever is later. Stores the current
// time as the time of the last charged release.
// wakes: the threads that the release wakes.
// waker: the releasing thread in the trace. If a thread waits, records the
//   release in the trace and adds a mark, which links the wakeup to the
//   release. NULL: the release is not traced.
struct mprof_charge mprof_waiters_charge(uintptr_t object,
                                         enum mprof_wakes wakes,
                                         const struct mprof_trace_waker *waker);
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

// Empties the table in a forked child, because no thread waits in the child.
void mprof_waiters_reset(void);

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
  uintptr_t joins;             // kind join: pthread_t of the awaited thread
  // Epoch of the process when the wait began. In a forked child the epoch is
  // another one, and the child ignores the wait.
  uint32_t epoch;
  uint8_t kind;           // enum mprof_kind
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

// Each wait saves the registers of its caller, for the code that collects the
// stacks of all threads.
#define MPROF_BEGIN_WAIT_(w, begin, ...)                                       \
  (__extension__({                                                             \
    MPROF_SAVE(&(w)->saved);                                                   \
    begin((w), __VA_ARGS__);                                                   \
  }))

// Begins a wait for a lock or another object. If the object has a try function,
// call this after the try function has failed. Unwinds the stack at once if the
// block profile or the trace needs it, because the thread has to wait anyway.
// op: address of the hooked function, which becomes the leaf of the stack.
// frame: frame address of the entry.
// object: the address that is also passed to mprof_release_begin when this
//   object is released; 0: there is no such address.
#define mprof_wait_begin(w, kind, op, frame, object)                           \
  MPROF_BEGIN_WAIT_(w, mprof_wait_begin_saved, kind, op, frame, object)
void mprof_wait_begin_saved(struct mprof_wait *w, enum mprof_kind kind,
                            uintptr_t op, uintptr_t frame, uintptr_t object);
// Begins a wait for a condition. mutex: the mutex that the call releases and
// takes again. The wait has two parts. The first part is the wait for the
// condition, and ends at the signal. The second part is the wait for the mutex,
// and is recorded as a wait of the kind mutex with the same stack.
#define mprof_cond_wait_begin(w, op, frame, condition, mutex)                  \
  MPROF_BEGIN_WAIT_(w, mprof_cond_wait_begin_saved, op, frame, condition, mutex)
void mprof_cond_wait_begin_saved(struct mprof_wait *w, uintptr_t op,
                                 uintptr_t frame, uintptr_t condition,
                                 uintptr_t mutex);
// Begins a blocking call, which may return without a wait. So the stack is
// unwound only at the end of the call, and only if the wait is sampled. op:
// address of the hooked function. frame: frame address of the entry.
#define mprof_call_begin(w, kind, op, frame)                                   \
  MPROF_BEGIN_WAIT_(w, mprof_call_begin_saved, kind, op, frame)
void mprof_call_begin_saved(struct mprof_wait *w, enum mprof_kind kind,
                            uintptr_t op, uintptr_t frame);
// Begins a call that waits for the end of another thread. The stack is unwound
// only at the end of the call, and only if the wait is sampled. thread:
// pthread_t of the other thread.
#define mprof_join_begin(w, thread, op, frame)                                 \
  MPROF_BEGIN_WAIT_(w, mprof_join_begin_saved, thread, op, frame)
void mprof_join_begin_saved(struct mprof_wait *w, uintptr_t thread,
                            uintptr_t op, uintptr_t frame);
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

// --- the locks that a thread holds ---
//
// A record says where a thread took a lock. The search for stuck threads reads
// these records, so they are written only if the option stuck or stuck_report
// is set.
//
// A record says that the thread took a lock at some time. A record is either
// needed or not:
// - Not needed: the lock stores the thread id of its owner. The record is not
//   removed when the lock is released, because this would double the cost of an
//   uncontended lock. Therefore a reader of the record must check in the lock
//   itself whether the thread still holds the lock.
// - Needed: the lock does not store its owner. The record is removed when the
//   lock is released. It is replaced by another record only if all records of
//   the thread are needed.
//
// Only the thread itself writes its records. Other threads read them with
// mprof_hold_read.

enum { MPROF_HOLD_FRAMES = 5, MPROF_HOLDS = 32 };

struct mprof_hold {
  // Address of the lock. 0: the record is unused, or its thread is changing the
  // other fields. Written after all other fields.
  _Atomic uintptr_t lock;
  uint64_t op : 56;       // address of the hooked function that took the lock
  uint64_t kind : 7;      // enum mprof_kind
  uint64_t is_needed : 1; // the lock does not store its owner
  uint64_t since;         // time at which the lock was taken, in ticks
  mprof_pc stack[MPROF_HOLD_FRAMES];
};
_Static_assert(sizeof(struct mprof_hold) == 64, "one cache line");

struct mprof_holds {
  // Number of records with is_needed = 1 that other records have replaced while
  // the thread held their locks. Only the thread itself writes this field.
  atomic_uint lost;
  // True if the record of a lock may be outside the few entries of v that the
  // hash of the lock's address selects (the preferred records in holds.c).
  bool has_strayed;
  struct mprof_hold v[MPROF_HOLDS];
};

// 1: every mutex, and every rwlock that is held for writing, stores the thread
// id of its owner. 0: some of these locks do not, as with musl.
#ifdef __GLIBC__
enum { MPROF_LOCKS_NAME_OWNERS = 1 };
#else
enum { MPROF_LOCKS_NAME_OWNERS = 0 };
#endif

// Whether the runtime records which locks each thread holds. Written once at
// start.
extern MPROF_HIDDEN bool mprof_holds_on;

// Records that the calling thread has taken a lock. Call this while the
// thread's guard is not set.
// op: address of the hooked function that took the lock.
// frame: frame address of the entry that called this function.
void mprof_holds_add(uintptr_t lock, uint8_t kind, uintptr_t op,
                     uintptr_t frame);
// Calls mprof_holds_add if mprof_holds_on is set.
static inline void mprof_hold_taken(uintptr_t lock, uint8_t kind, uintptr_t op,
                                    uintptr_t frame) {
  if (mprof_unlikely(mprof_holds_on))
    mprof_holds_add(lock, kind, op, frame);
}
// Removes the calling thread's record of a lock that the thread releases. Does
// nothing if there is no such record. Call this with the guard set, and only
// for locks that do not store their owner (is_needed).
void mprof_hold_dropped(uintptr_t lock);

// Copies record i of thread t to *copy. t->holds must not be NULL. Returns
// false if the record is unused, or if the thread has changed the record during
// the copy.
bool mprof_hold_read(const struct mprof_thread *t, size_t i,
                     struct mprof_hold *copy);

// Sets mprof_holds_on from the options. Call at start.
void mprof_holds_init(void);

// --- names of locks ---
//
// The names that the program has given to its locks with mprof_name_lock.
// Reports show the name and the address of a lock. If a lock has no name,
// reports show only its address. A forked child keeps the names, because it has
// the same locks as its parent.

#define MPROF_LOCK_NAME 64 // size of a name in bytes, including the final 0

// Appends the text for the lock at address to t. The text is "NAME (0x7f...)",
// or "0x7f..." if the lock has no name. Takes names_lock.
void mprof_lock_label(struct mprof_text *t, uintptr_t address);
// Resets names_lock in a forked child, and keeps the names.
void mprof_lock_names_reset(void);

#endif // MPROF_RT_LOCK_WAIT_CONTENTION_H
