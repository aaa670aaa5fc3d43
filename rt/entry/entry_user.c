// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of locks and blocking calls that the program marks with mprof_lock,
// mprof_unlock and mprof_blocking. An entry is a function of the runtime that
// instrumented code calls. A call site of a marked function calls a begin
// entry, then the marked function, then an end entry. Both entries use the same
// memory in the frame of the caller.
//
// The runtime cannot try to take such a lock, because it knows no try function
// of the lock. So while waits for these locks are recorded, the table of
// waiters (waiters.h) also records which of these locks are held. A thread
// counts as waiting if the lock is held when the thread calls the lock
// function.

#include "entry/sync_entry.h"
#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "lock_wait/waiters.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/arch.h"
#include "sys/tls.h"

// notes: MPROF_USER_WORDS words of memory in the caller's frame. The runtime
//   uses this memory from the begin entry to the end entry.
// f: the marked function.
// lock: the address that identifies the lock.
MPROF_ENTRY void __mprof_user_lock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_lock_end(void *notes);
MPROF_ENTRY void __mprof_user_unlock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_unlock_end(void *notes);
MPROF_ENTRY void __mprof_user_call_begin(void *notes, void *f);
MPROF_ENTRY void __mprof_user_call_end(void *notes);

struct user_release {
  struct mprof_release release;
  uintptr_t op;
};
#define FITS(type)                                                             \
  _Static_assert(sizeof(type) <= MPROF_USER_WORDS * sizeof(uint64_t),          \
                 "the type must fit into MPROF_USER_WORDS words of 64 bits")
FITS(struct mprof_wait);
FITS(struct user_release);

// Adds the thread to the count of threads that hold or await the lock. Returns
// whether another thread already holds or awaits the lock.
static bool comes_second(uintptr_t lock) {
  if (!mprof_init_ready() || !mprof_guard_enter())
    return false;
  bool is_held = mprof_waiters_hold(lock);
  mprof_guard_leave();
  return is_held;
}

// Records that the thread runs a marked function, that is, a function with
// mprof_lock, mprof_unlock or mprof_blocking. The rewritten code calls a begin
// entry of the runtime before the marked function and an end entry after it.
// Between the two, waits in functions that the marked function calls are not
// recorded separately. `notes` points to memory in the frame of the marked
// function's caller. Therefore this address identifies that frame.
static void enter_user(const void *notes) {
  mprof_tls.user_frame = (uintptr_t)notes;
}
static void leave_user(void) { mprof_tls.user_frame = 0; }

MPROF_ENTRY void __mprof_user_lock_begin(void *notes, void *f, void *lock) {
  struct mprof_wait *w = notes;
  *w = (struct mprof_wait){.op = (uintptr_t)f, .object = (uintptr_t)lock};
  if (comes_second((uintptr_t)lock))
    mprof_wait_begin(w, MPROF_KIND_user, (uintptr_t)f, ENTRY_FRAME,
                     (uintptr_t)lock);
  enter_user(notes);
}

MPROF_ENTRY void __mprof_user_lock_end(void *notes) {
  struct mprof_wait *w = notes;
  leave_user();
  mprof_wait_end(w, MPROF_GOT);
  mprof_hold_taken(w->object, MPROF_KIND_user, w->op, ENTRY_FRAME);
}

MPROF_ENTRY void __mprof_user_unlock_begin(void *notes, void *f, void *lock) {
  struct user_release *n = notes;
  n->op = (uintptr_t)f;
  mprof_release_begin(&n->release, (uintptr_t)lock, MPROF_WAKES_NEXT_OWNER,
                      n->op, ENTRY_FRAME);
  if (mprof_init_ready() && mprof_guard_enter()) {
    mprof_waiters_let_go((uintptr_t)lock);
    if (mprof_unlikely(mprof_holds_on))
      mprof_hold_dropped((uintptr_t)lock);
    mprof_guard_leave();
  }
  enter_user(notes);
}

MPROF_ENTRY void __mprof_user_unlock_end(void *notes) {
  struct user_release *n = notes;
  leave_user();
  mprof_release_end(&n->release, true, MPROF_KIND_user, n->op, ENTRY_FRAME);
}

MPROF_ENTRY void __mprof_user_call_begin(void *notes, void *f) {
  // Zeros mean that the values of the registers during the wait are unknown.
  ((struct mprof_wait *)notes)->saved = (struct mprof_saved){0};
  mprof_call_begin_saved(notes, MPROF_KIND_call, (uintptr_t)f, ENTRY_FRAME);
  enter_user(notes);
}

MPROF_ENTRY void __mprof_user_call_end(void *notes) {
  struct mprof_wait *w = notes;
  leave_user();
  w->frame = ENTRY_FRAME; // the frame of the begin entry no longer exists
  mprof_wait_end(w, MPROF_TIMEOUT);
}
