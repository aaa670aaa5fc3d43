// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the entries of locks and blocking calls report: a wait begins, a wait
// ends, a lock is released. From these come the block profile (who waits: the
// waiter's stack) and the mutex profile (who makes others wait: the stack of
// the unlock that ended the critical section). (Go: blockevent, mutexevent)

#ifndef MPROF_RT_WAIT_CONTENTION_H
#define MPROF_RT_WAIT_CONTENTION_H

#include "bucket/bucket.h"
#include "sys/caller.h"
#include "wait/block_kinds.h"
#include "wait/waiters.h"

// --- rates ---

// What samples are drawn by. Written under registry_lock.
extern struct mprof_contention {
  _Atomic uint64_t block_rate;     // ticks; 0: off
  _Atomic uint64_t block_rate_ns;  // as it was asked for
  _Atomic uint64_t mutex_fraction; // 0: off
  uint64_t block_kinds;            // bits; written once at start
  // Bits of kinds that are not seen, since their functions come from different
  // modules; the same.
  uint64_t foreign_kinds;
  // All waits are seen and noted, for the stacks of all threads. Written under
  // registry_lock, the first before the second, so that who notes one wait sees
  // the next one, too.
  bool sees_waits;
  atomic_bool notes_waits;
  bool notes_from_start; // written once at start
} mprof_contention;

void mprof_contention_init(void);
// A session of the trace has begun or ended.
void mprof_contention_update_kinds(void);
// From now on all waits are seen.
void mprof_contention_note_waits(void);

// --- waits ---

// How a wait ended.
enum mprof_outcome {
  MPROF_GOT,     // what was waited for
  MPROF_TIMEOUT, // or anything else that another's release is no cause of
  MPROF_NO_WAIT, // the call failed at once, so there was none
};

struct mprof_wait {
  uint64_t start;              // ticks; 0: nothing is recorded
  struct mprof_bucket *bucket; // the block profile's, or NULL
  uintptr_t op, frame, object;
  uintptr_t joins; // of kind join: the thread
  uint32_t epoch;  // of the process: a fork makes the rest stale
  uint8_t kind;
  // Of the trace: the session's number, 0 if it is not in it, and the stack.
  unsigned trace_session;
  uint32_t trace_stack;
  bool is_waiter; // entered in the table of waiters
  bool is_late;   // its bucket is looked for when it ends
  bool is_inside; // a lock or call of the program's: it is not counted
  // Of the stacks of all threads; thread_wait.h. The caller of the entry, whose
  // own frame may be gone, and the wait that a signal handler has interrupted.
  bool is_noted;
  uintptr_t pc, fp;
  uintptr_t outer;
  struct mprof_saved saved; // of a noted wait; zeros of kinds user and call
};

// begins a wait asks once, for both.
static inline bool mprof_waits_are_noted(void) {
  return atomic_load_explicit(&mprof_contention.notes_waits,
                              memory_order_acquire);
}
#define MPROF_BEGIN_(w, begin, ...)                                            \
  (__extension__({                                                             \
    const bool notes_ = mprof_waits_are_noted();                               \
    if (mprof_unlikely(notes_))                                                \
      MPROF_SAVE(&(w)->saved);                                                 \
    begin((w), notes_, __VA_ARGS__);                                           \
  }))

// Begins a wait after a try has failed or where there is none. op: the hooked
// function's address, which becomes the stack's leaf; frame: the entry's frame
// address; object: the lock that a release will name, or 0. The stack is
// unwound now, while there is time to wait for.
#define mprof_wait_begin(w, kind, op, frame, object)                           \
  MPROF_BEGIN_(w, mprof_wait_begin_saved, kind, op, frame, object)
void mprof_wait_begin_saved(struct mprof_wait *w, bool notes,
                            enum mprof_kind kind, uintptr_t op, uintptr_t frame,
                            uintptr_t object);
// The same for calls that may take no time at all: the stack is unwound at the
// end, if the wait is sampled.
#define mprof_call_begin(w, kind, op, frame)                                   \
  MPROF_BEGIN_(w, mprof_call_begin_saved, kind, op, frame)
void mprof_call_begin_saved(struct mprof_wait *w, bool notes,
                            enum mprof_kind kind, uintptr_t op,
                            uintptr_t frame);
// The same for one that waits for a thread's end.
#define mprof_join_begin(w, thread, op, frame)                                 \
  MPROF_BEGIN_(w, mprof_join_begin_saved, thread, op, frame)
void mprof_join_begin_saved(struct mprof_wait *w, bool notes, uintptr_t thread,
                            uintptr_t op, uintptr_t frame);
void mprof_wait_end(struct mprof_wait *w, enum mprof_outcome outcome);
// A try that failed: a wait of no time.
void mprof_try_failed(uintptr_t op, uintptr_t frame, uintptr_t object);

// --- releases ---

// Waiting that a release is to blame for.
struct mprof_release {
  struct mprof_charge charge; // of no ticks: nothing is recorded
  uintptr_t object;
};
// Before the lock is released: charges what its waiters have waited so far, and
// stamps the time. wakes, op, and frame as of a wait, are for the trace.
void mprof_release_begin(struct mprof_release *r, uintptr_t object,
                         enum mprof_wakes wakes, uintptr_t op, uintptr_t frame);
// After it: records the charge, blaming kind's op; or takes it back if the
// release failed.
void mprof_release_end(struct mprof_release *r, bool released,
                       enum mprof_kind kind, uintptr_t op, uintptr_t frame);

// A thread took what a release of object gave, and had not to wait; for the
// trace, while that is on.
void mprof_release_taken(uintptr_t object);

// --- records ---

// Adds an event of so many ticks to a bucket, undoing the bias of the choice.
// (Go: saveBlockEventStack)
void mprof_block_add(struct mprof_bucket *b, uint64_t cycles, uint64_t rate);
void mprof_mutex_add(struct mprof_bucket *b, uint64_t cycles,
                     uint64_t fraction);
// Whether an event is chosen. (Go: blocksampled)
bool mprof_block_sampled(uint64_t cycles, uint64_t rate);

#endif // MPROF_RT_WAIT_CONTENTION_H
