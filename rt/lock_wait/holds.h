// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records where each thread took the locks that it holds. The search for stuck
// threads reads these records, so they are written only if the option stuck or
// stuck_report is set.
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

#ifndef MPROF_RT_LOCK_WAIT_HOLDS_H
#define MPROF_RT_LOCK_WAIT_HOLDS_H

#include "sys/base.h"

struct mprof_thread;

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
// Whether the entries report each lock that is taken or released:
// mprof_holds_on or mprof_order_on (lock_order.h). Written once at start.
extern MPROF_HIDDEN bool mprof_tracks_locks;

// Records that the calling thread has taken a lock. Call this while the
// thread's guard is not set.
// how: MPROF_TAKES_* (lock_order.h).
// op: address of the hooked function that took the lock.
// frame: frame address of the entry that called this function.
void mprof_holds_add(uintptr_t lock, uint8_t kind, unsigned how, uintptr_t op,
                     uintptr_t frame);
// Removes the calling thread's record of a lock that the thread releases. Does
// nothing if there is no such record. Call this with the guard set, and only
// for locks that do not store their owner (is_needed).
void mprof_hold_dropped(uintptr_t lock);

// Copies record i of thread t to *copy. t->holds must not be NULL. Returns
// false if the record is unused, or if the thread has changed the record during
// the copy.
bool mprof_hold_read(const struct mprof_thread *t, size_t i,
                     struct mprof_hold *copy);

// Sets mprof_holds_on, mprof_order_on and mprof_tracks_locks from the options.
// Call at start.
void mprof_holds_init(void);

#endif // MPROF_RT_LOCK_WAIT_HOLDS_H
