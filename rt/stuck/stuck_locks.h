// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a hooked function waits for, what a lock tells about its holder, and
// whether a thread sleeps in the object that it waits for. The graph
// (stuck_graph.c) is made of this.
//
// A mutex names its owner, and an rwlock names its writer. The readers of an
// rwlock, and the holders of a spin lock or of a lock of the program's own, are
// known only by the records of holds.h.

#ifndef MPROF_RT_STUCK_STUCK_LOCKS_H
#define MPROF_RT_STUCK_STUCK_LOCKS_H

#include "stuck/stuck_types.h"

// Returns what a wait in the hooked function op is for. Waits with a timeout
// are for nothing.
enum mprof_awaited mprof_awaited_of(uintptr_t op, uint8_t kind);
// Returns what the hooked function op takes, by a wait or a try.
enum mprof_awaited mprof_taken_of(uintptr_t op, uint8_t kind);

// What a lock tells about its holder. The number is trusted no further than
// that a thread with this number is alive, or is not.
struct mprof_lock_holder {
  int tid;         // 0: the lock names no holder
  bool may_change; // a dead holder proves nothing: the lock is robust or shared
  bool is_held;
  uint32_t readers; // of an rwlock; 1 for a spin lock and the like
};
// Reads a lock. All is 0 if the lock is not readable, or is not a lock.
struct mprof_lock_holder mprof_lock_holder_of(uintptr_t lock,
                                              enum mprof_awaited awaited);
// Returns whether a thread still holds what it once took, as far as the lock
// tells.
bool mprof_stuck_holds(const struct mprof_stuck_thread *t,
                       const struct mprof_hold *h);

// Returns whether the thread sleeps in the object that it waits for, without
// timeout.
bool mprof_stuck_sleeps(const struct mprof_stuck_thread *x);

#endif // MPROF_RT_STUCK_STUCK_LOCKS_H
