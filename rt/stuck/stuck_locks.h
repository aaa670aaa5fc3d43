// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers three questions for the graph of waiting threads (stuck_graph.h):
// - For which kind of object does a thread in a hooked function wait?
// - Which thread holds a lock, according to the memory of the lock?
// - Does the kernel's futex call, in which a thread sleeps, wait for an address
//   inside the object?
// The functions here only read locks and never change them.
//
// The memory of a mutex contains the thread id of its owner. The memory of an
// rwlock contains the thread id of its writer. The records of holds.h are
// needed to know the readers of an rwlock, and the holders of spin locks and of
// the program's own locks.

#ifndef MPROF_RT_STUCK_STUCK_LOCKS_H
#define MPROF_RT_STUCK_STUCK_LOCKS_H

#include "stuck/stuck_types.h"

// Returns the kind of object that a thread waits for in the hooked function op.
// kind: an enum mprof_kind. Returns MPROF_AWAITS_NOTHING if op has a timeout.
enum mprof_awaited mprof_awaited_of(uintptr_t op, uint8_t kind);
// Returns the kind of lock that the hooked function op takes. op may also be a
// function such as pthread_mutex_trylock. kind: an enum mprof_kind.
enum mprof_awaited mprof_taken_of(uintptr_t op, uint8_t kind);

// The holder of a lock, as read from the lock's memory. The memory may contain
// anything. So tid is only used to look for a living thread with this id.
struct mprof_lock_holder {
  int tid; // id of the holder; 0: the memory names no holder
  // True if the lock is robust or shared between processes. The waiters of such
  // a lock may wake even if the holder is dead.
  bool may_change;
  bool is_held;
  uint32_t readers; // number of readers of an rwlock; 1 for other locks
};
// Reads the holder of the lock at the address lock. `awaited` tells the kind of
// lock. All fields of the result are 0 if the memory is not readable, or if
// `awaited` is not a kind of lock.
struct mprof_lock_holder mprof_lock_holder_of(uintptr_t lock,
                                              enum mprof_awaited awaited);
// Returns whether thread t still holds the lock of its record h. If the lock's
// memory names a holder, the memory decides. Otherwise the record decides.
bool mprof_stuck_holds(const struct mprof_stuck_thread *t,
                       const struct mprof_hold *h);

// Returns whether thread x sleeps, without a timeout, in a futex call on the
// object that x waits for. If x is the calling thread, a signal handler has
// interrupted its wait. Then the result tells whether x will sleep in this call
// again after the handler. Always returns true for spin locks and the program's
// own locks, because their waiters need not sleep.
bool mprof_stuck_sleeps(struct mprof_stuck_thread *x);

#endif // MPROF_RT_STUCK_STUCK_LOCKS_H
