// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records where each thread took the locks that it holds, for the search for
// stuck threads. Recorded only with the options stuck and stuck_report.
//
// A record says that the thread took the lock at some time. There are two
// kinds:
// - The lock names its owner. The release is not seen, because it would cost
//   an uncontended lock as much again. A reader of the record must ask the lock
//   itself whether the thread still holds it.
// - The lock does not name its owner, so the record is needed. It is dropped at
//   the release, and never replaced by a record that is not needed.
//
// Only the thread itself writes its records. Others read them by
// mprof_hold_read.

#ifndef MPROF_RT_LOCK_WAIT_HOLDS_H
#define MPROF_RT_LOCK_WAIT_HOLDS_H

#include "thread/threads.h"

enum { MPROF_HOLD_FRAMES = 5, MPROF_HOLDS = 32 };

struct mprof_hold {
  // Address of the lock. Written last, and 0 while the other fields change.
  _Atomic uintptr_t lock;
  uint64_t op : 56; // address of the hooked function that took the lock
  uint64_t kind : 7;
  uint64_t is_needed : 1; // the lock does not name its owner
  uint64_t since;         // ticks
  mprof_pc stack[MPROF_HOLD_FRAMES];
};
_Static_assert(sizeof(struct mprof_hold) == 64, "one cache line");

struct mprof_holds {
  // Number of needed records that were replaced by other needed records, while
  // the thread held the lock. Only the thread writes it.
  atomic_uint lost;
  bool has_strayed; // a record is not in one of its lock's preferred places
  struct mprof_hold v[MPROF_HOLDS];
};

// Whether mutexes, and rwlocks held for writing, name their owners. With musl,
// not all of them do.
#ifdef __GLIBC__
enum { MPROF_LOCKS_NAME_OWNERS = 1 };
#else
enum { MPROF_LOCKS_NAME_OWNERS = 0 };
#endif

// Whether holds are recorded. Written once at start.
extern bool mprof_holds_on;

// Records that the calling thread has taken a lock. op: address of the hooked
// function that took it; frame: the entry's frame address. Call without the
// guard.
void mprof_holds_add(uintptr_t lock, uint8_t kind, uintptr_t op,
                     uintptr_t frame);
// Does so if holds are recorded.
static inline void mprof_hold_taken(uintptr_t lock, uint8_t kind, uintptr_t op,
                                    uintptr_t frame) {
  if (mprof_unlikely(mprof_holds_on))
    mprof_holds_add(lock, kind, op, frame);
}
// Removes the calling thread's record of a lock that it has released, if there
// is one. For locks whose record is needed. Call with the guard set.
void mprof_hold_dropped(uintptr_t lock);

// Copies record i of a thread that has records. Returns false if there is no
// record, or if the thread changes it meanwhile.
bool mprof_hold_read(const struct mprof_thread *t, size_t i,
                     struct mprof_hold *copy);

// Sets mprof_holds_on from the options, at start.
void mprof_holds_init(void);

#endif // MPROF_RT_LOCK_WAIT_HOLDS_H
