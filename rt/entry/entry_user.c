// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of locks and blocking calls that the program marks with mprof_lock,
// mprof_unlock and mprof_blocking. The site calls the program's function
// between a begin entry and an end entry, which share memory in the site's
// frame.
//
// Such a lock cannot be tried. So while the profiles are on, the table of
// waiters also records which of these locks are held. A thread waits only if it
// comes to a held lock.

#include "entry/entry_user.h"

#include "entry/sync_entry.h"
#include "lock_wait/block_kinds.h"
#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "lock_wait/waiters.h"
#include "lock_wait/wake_marks.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/caller.h"
#include "sys/tls.h"

struct user_release {
  struct mprof_release release;
  uintptr_t op;
};
#define FITS(type)                                                             \
  _Static_assert(sizeof(type) <= MPROF_USER_WORDS * sizeof(uint64_t),          \
                 "MPROF_USER_WORDS is too small for the type")
FITS(struct mprof_wait);
FITS(struct user_release);

// Enters the thread among the holders and waiters of the lock. Returns whether
// there are others.
static bool comes_second(uintptr_t lock) {
  if (!mprof_init_ready() || !mprof_guard_enter())
    return false;
  bool is_held = mprof_waiters_hold(lock);
  mprof_guard_leave();
  return is_held;
}

// Marks the time between the begin and the end entry: functions called in it
// are part of the marked function. The address of notes stands for the site's
// frame.
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
  // The values of the registers during the wait are not known here.
  ((struct mprof_wait *)notes)->saved = (struct mprof_saved){.rbx = 0};
  mprof_call_begin_saved(notes, mprof_waits_are_noted(), MPROF_KIND_call,
                         (uintptr_t)f, ENTRY_FRAME);
  enter_user(notes);
}

MPROF_ENTRY void __mprof_user_call_end(void *notes) {
  struct mprof_wait *w = notes;
  leave_user();
  w->frame = ENTRY_FRAME; // the frame of the begin entry is gone
  mprof_wait_end(w, MPROF_TIMEOUT);
}
