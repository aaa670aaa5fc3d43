// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each thread took the locks that it holds, for the report of stuck
// threads; recorded only with the options threadleak and stuck_report.
//
// A record says that the thread once took the lock. Of a lock that names its
// owner, releases are not seen, or an uncontended one would cost as much again:
// who reads a record asks the lock itself. Of locks that do not, the record is
// needed: it is dropped at the release, and never replaced by one that is not.

#ifndef MPROF_RT_WAIT_HOLDS_H
#define MPROF_RT_WAIT_HOLDS_H

#include "thread/threads.h"

enum { MPROF_HOLD_FRAMES = 5, MPROF_HOLDS = 32 };

struct mprof_hold {
  // Written last, and 0 while the rest changes. Only its thread writes.
  _Atomic uintptr_t lock;
  uint64_t op : 56; // the hooked function that took it
  uint64_t kind : 7;
  uint64_t is_needed : 1; // the lock does not tell who holds it
  uint64_t since;         // ticks
  mprof_pc stack[MPROF_HOLD_FRAMES];
};
_Static_assert(sizeof(struct mprof_hold) == 64, "one cache line");

struct mprof_holds {
  // Locks that the thread has taken and not dropped since, whose record was
  // needed and had to give way to another such one. Written by the thread.
  atomic_uint lost;
  bool has_strayed; // a record is not at one of its lock's first places
  struct mprof_hold v[MPROF_HOLDS];
};

// Whether mutexes, and rwlocks that are written, name their owners: musl's do
// not all.
#ifdef __GLIBC__
enum { MPROF_LOCKS_NAME_OWNERS = 1 };
#else
enum { MPROF_LOCKS_NAME_OWNERS = 0 };
#endif

// Written once at start.
extern bool mprof_holds_on;

// The calling thread has taken lock of that kind by op; frame: the entry's.
void mprof_holds_add(uintptr_t lock, uint8_t kind, uintptr_t op,
                     uintptr_t frame);
static inline void mprof_hold_taken(uintptr_t lock, uint8_t kind, uintptr_t op,
                                    uintptr_t frame) {
  if (mprof_unlikely(mprof_holds_on))
    mprof_holds_add(lock, kind, op, frame);
}
// It has released one whose record is needed, if there is one.
void mprof_hold_dropped(uintptr_t lock);

// Copies record i of a thread; false if there is none, or it changes.
bool mprof_hold_read(const struct mprof_thread *t, size_t i,
                     struct mprof_hold *copy);

void mprof_holds_init(void);

#endif // MPROF_RT_WAIT_HOLDS_H
