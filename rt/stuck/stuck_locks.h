// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers three questions for the graph (stuck_graph.c): what a hooked function
// waits for, what a lock tells about its holder, and whether a thread sleeps in
// the object that it waits for. It only reads locks, and changes none.
//
// A mutex names its owner, and an rwlock names its writer. The readers of an
// rwlock, and the holders of a spin lock or of a lock of the program's own, are
// known only by the records of holds.h.

#ifndef MPROF_RT_STUCK_STUCK_LOCKS_H
#define MPROF_RT_STUCK_STUCK_LOCKS_H

#include "stuck/stuck_types.h"

// Returns what a thread waits for in the hooked function op. kind: enum
// mprof_kind. Returns MPROF_AWAITS_NOTHING for a wait with a timeout.
enum mprof_awaited mprof_awaited_of(uintptr_t op, uint8_t kind);
// Returns what the hooked function op takes, by a wait or a try. kind: enum
// mprof_kind.
enum mprof_awaited mprof_taken_of(uintptr_t op, uint8_t kind);

// What a lock tells about its holder. The memory may hold anything, so the tid
// is trusted only as a number: a thread with this number is alive, or is not.
struct mprof_lock_holder {
  int tid;         // id of the holder; 0: the lock names no holder
  bool may_change; // a dead holder proves nothing: the lock is robust or shared
  bool is_held;
  uint32_t readers; // readers of an rwlock; 1 for a lock with one holder
};
// Reads a lock of the kind that `awaited` tells. All fields of the result are 0
// if the memory is not readable, or if `awaited` is no lock.
struct mprof_lock_holder mprof_lock_holder_of(uintptr_t lock,
                                              enum mprof_awaited awaited);
// Returns whether thread t still holds the lock of record h, as far as the lock
// tells.
bool mprof_stuck_holds(const struct mprof_stuck_thread *t,
                       const struct mprof_hold *h);

// Returns whether the thread sleeps in the object that it waits for, without a
// timeout. If the calling thread is x, in a handler that has interrupted its
// wait: returns whether it will sleep there again. Always true for spin locks
// and the program's own locks, whose waiters need not sleep.
bool mprof_stuck_sleeps(const struct mprof_stuck_thread *x);

#endif // MPROF_RT_STUCK_STUCK_LOCKS_H
