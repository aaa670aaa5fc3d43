// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells stuck_graph.c what a hooked function waits for, which holder a lock's
// memory names, and whether a thread sleeps in the object that it waits for.
// The functions here only read locks and never change them.
//
// The memory of a mutex contains its owner's thread id, and the memory of an
// rwlock its writer's thread id. The readers of an rwlock, and the holders of
// spin locks and of the program's own locks, are known only from the records of
// holds.h.

#ifndef MPROF_RT_STUCK_STUCK_LOCKS_H
#define MPROF_RT_STUCK_STUCK_LOCKS_H

#include "stuck/stuck_types.h"

// Returns the thing that a thread in the hooked function op waits for. kind is
// an enum mprof_kind. Returns MPROF_AWAITS_NOTHING for a wait with a timeout.
enum mprof_awaited mprof_awaited_of(uintptr_t op, uint8_t kind);
// Returns the kind of lock that the hooked function op takes, with or without
// waiting. kind is an enum mprof_kind.
enum mprof_awaited mprof_taken_of(uintptr_t op, uint8_t kind);

// The holder of a lock, as read from the lock's memory. The memory may contain
// anything. So the tid is only used to ask whether a thread with this id is
// alive.
struct mprof_lock_holder {
  int tid; // id of the holder; 0: the lock names no holder
  // The lock is robust or shared between processes, so its waiters may wake
  // even if the holder is dead.
  bool may_change;
  bool is_held;
  uint32_t readers; // readers of an rwlock; 1 for a lock with one holder
};
// Reads the holder of the lock, whose kind is given by `awaited`. All fields of
// the result are 0 if the memory is not readable, or if `awaited` is not a
// lock.
struct mprof_lock_holder mprof_lock_holder_of(uintptr_t lock,
                                              enum mprof_awaited awaited);
// Returns whether thread t still holds the lock of its record h. The lock's
// memory decides, as far as it names a holder.
bool mprof_stuck_holds(const struct mprof_stuck_thread *t,
                       const struct mprof_hold *h);

// Returns whether thread x sleeps without a timeout in the object that it waits
// for. If x is the calling thread, a signal handler has interrupted its wait;
// then returns whether x will sleep in the object again after the handler.
// Always returns true for spin locks and the program's own locks, whose waiters
// need not sleep.
bool mprof_stuck_sleeps(const struct mprof_stuck_thread *x);

#endif // MPROF_RT_STUCK_STUCK_LOCKS_H
