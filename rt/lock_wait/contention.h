// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records the events that the entries of locks and blocking calls report: the
// begin and the end of a wait, and the release of a lock. The block profile is
// made of the waits (the stack of the thread that waits). The mutex profile is
// made of the releases (the stack of the unlock that ended the critical section
// for which others waited). (Go: blockevent, mutexevent)
//
// All functions may be called from any thread. Where a function runs inside the
// runtime (the guard is set), it records nothing and counts the event in the
// statistic reentrant.

#ifndef MPROF_RT_LOCK_WAIT_CONTENTION_H
#define MPROF_RT_LOCK_WAIT_CONTENTION_H

#include "bucket/bucket.h"
#include "lock_wait/block_kinds.h"
#include "lock_wait/waiters.h"
#include "sys/caller.h"

// --- rates ---

// The sampling rates, and the sets of kinds (block_kinds.h). Written under
// registry_lock.
extern struct mprof_contention {
  _Atomic uint64_t block_rate;     // ticks; 0: off
  _Atomic uint64_t block_rate_ns;  // as the program or the option has set it
  _Atomic uint64_t mutex_fraction; // 0: off
  uint64_t block_kinds;            // set of kinds; written once at start
  // Set of kinds that are not recorded, because their functions come from
  // different modules. Written once at start.
  uint64_t foreign_kinds;
  // Whether all waits are seen, and whether they are noted, for the stacks of
  // all threads (thread_wait.h). sees_waits is written before notes_waits: a
  // thread that notes one wait also sees its next wait.
  bool sees_waits;
  atomic_bool notes_waits;
  bool notes_from_start; // written once at start
} mprof_contention;

// Sets the rates from the options, at start, while no other thread runs.
void mprof_contention_init(void);
// Updates the kinds that the entries report, after a session of the trace has
// begun or ended. Takes registry_lock.
void mprof_contention_update_kinds(void);
// Makes all waits seen and noted from now on. Takes registry_lock. The first
// call takes 10 ms, so that most threads come to a wait that is noted.
void mprof_contention_note_waits(void);

// --- waits ---

// How a wait ended.
enum mprof_outcome {
  MPROF_GOT,     // the thread got the lock or the object
  MPROF_TIMEOUT, // any end that is not caused by another thread's release
  MPROF_NO_WAIT, // the call failed at once, so the thread did not wait
};

// A wait. It lies in the frame of its entry, from the begin to the end.
struct mprof_wait {
  uint64_t start;              // ticks; 0: nothing is recorded
  struct mprof_bucket *bucket; // bucket of the block profile, or NULL
  uintptr_t op, frame, object; // see mprof_wait_begin
  uintptr_t joins;             // kind join: pthread_t of the awaited thread
  uint32_t epoch; // epoch of the process; after a fork, the wait is stale
  uint8_t kind;   // enum mprof_kind
  // Number of the trace's session, and the stack in the trace; 0: the wait is
  // not in the trace.
  unsigned trace_session;
  uint32_t trace_stack;
  bool is_waiter; // it is in the table of waiters
  bool is_late;   // its bucket is looked up at its end
  bool is_inside; // it is part of a marked lock or call, so it is not counted
  // For the stacks of all threads (thread_wait.h): whether the wait is noted,
  // the return address and the frame pointer of the entry's caller (the entry's
  // own frame may be gone), and the wait that the signal handler with this wait
  // has interrupted (0: none).
  bool is_noted;
  uintptr_t pc, fp;
  uintptr_t outer;
  // Registers of the caller, if the wait is noted. Zeros for the kinds user and
  // call.
  struct mprof_saved saved;
};

// Returns whether waits are noted now. Only noted waits need the registers. So
// the code that begins a wait asks once, and uses the answer for both.
static inline bool mprof_waits_are_noted(void) {
  return atomic_load_explicit(&mprof_contention.notes_waits,
                              memory_order_acquire);
}
#define MPROF_BEGIN_WAIT_(w, begin, ...)                                       \
  (__extension__({                                                             \
    const bool notes_ = mprof_waits_are_noted();                               \
    if (mprof_unlikely(notes_))                                                \
      MPROF_SAVE(&(w)->saved);                                                 \
    begin((w), notes_, __VA_ARGS__);                                           \
  }))

// Begins a wait for a lock or an object, after its try function has failed, or
// if it has none. Unwinds the stack now, because the thread has to wait anyway.
// op: address of the hooked function, which becomes the leaf of the stack.
// frame: frame address of the entry.
// object: the address that a release will pass, or 0.
#define mprof_wait_begin(w, kind, op, frame, object)                           \
  MPROF_BEGIN_WAIT_(w, mprof_wait_begin_saved, kind, op, frame, object)
void mprof_wait_begin_saved(struct mprof_wait *w, bool notes,
                            enum mprof_kind kind, uintptr_t op, uintptr_t frame,
                            uintptr_t object);
// Begins a blocking call that may take no time at all. Unwinds the stack at the
// end of the call, if the wait is sampled. The arguments are as of
// mprof_wait_begin.
#define mprof_call_begin(w, kind, op, frame)                                   \
  MPROF_BEGIN_WAIT_(w, mprof_call_begin_saved, kind, op, frame)
void mprof_call_begin_saved(struct mprof_wait *w, bool notes,
                            enum mprof_kind kind, uintptr_t op,
                            uintptr_t frame);
// Begins a call, as mprof_call_begin does, that waits for the end of a thread.
// thread: its pthread_t.
#define mprof_join_begin(w, thread, op, frame)                                 \
  MPROF_BEGIN_WAIT_(w, mprof_join_begin_saved, thread, op, frame)
void mprof_join_begin_saved(struct mprof_wait *w, bool notes, uintptr_t thread,
                            uintptr_t op, uintptr_t frame);
// Ends a wait or a call. Does nothing in a process that was forked meanwhile.
void mprof_wait_end(struct mprof_wait *w, enum mprof_outcome outcome);
// Records a failed try as a wait that took no time.
void mprof_try_failed(uintptr_t op, uintptr_t frame, uintptr_t object);

// --- releases ---

// A release, with the waiting time that it is charged with.
struct mprof_release {
  struct mprof_charge charge; // 0 ticks: nothing is recorded
  uintptr_t object;
};
// Begins a release: charges it with the time that the waiters for object have
// waited so far, and stamps the time. Call before the lock is released. wakes,
// op and frame are for the trace; op and frame are as of mprof_wait_begin.
void mprof_release_begin(struct mprof_release *r, uintptr_t object,
                         enum mprof_wakes wakes, uintptr_t op, uintptr_t frame);
// Ends a release: records the charge for the stack at frame, with op as its
// leaf. If released is false, the release has failed: takes the charge back.
// Call after the lock is released.
void mprof_release_end(struct mprof_release *r, bool released,
                       enum mprof_kind kind, uintptr_t op, uintptr_t frame);

// Reports to the trace that the calling thread has taken object after a release
// without a wait. Call while the trace is on.
void mprof_release_taken(uintptr_t object);

// --- records ---

// Adds a sampled wait of so many ticks (cycles) to a bucket, scaled to the
// waits that it stands for. rate: ticks per sample. (Go: saveBlockEventStack)
void mprof_block_add(struct mprof_bucket *b, uint64_t cycles, uint64_t rate);
// Adds a sampled release with a charge of so many ticks (cycles) to a bucket,
// scaled. fraction: one release in so many is sampled.
void mprof_mutex_add(struct mprof_bucket *b, uint64_t cycles,
                     uint64_t fraction);
// Draws whether a wait of so many ticks (cycles) is sampled.
// (Go: blocksampled)
bool mprof_block_sampled(uint64_t cycles, uint64_t rate);

// Set the block profile's rate in nanoseconds, or the mutex profile's fraction;
// a negative fraction changes nothing. Return the value before. Call with the
// guard set.
uint64_t mprof_contention_set_block_rate(uint64_t ns);
uint64_t mprof_contention_set_mutex_fraction(int n);

// What the stacks of all threads, which lie above this room, do at waits that
// are noted (mprof_waits_are_noted). Written once at start.
extern struct mprof_wait_observer {
  // The calling thread begins the wait w, which has op, frame, start and kind.
  void (*begin)(struct mprof_wait *w);
  // It ends the wait, in the process that it began it in.
  void (*end)(struct mprof_wait *w);
} mprof_wait_observer;

#endif // MPROF_RT_LOCK_WAIT_CONTENTION_H
