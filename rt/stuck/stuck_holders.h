// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the edges of the graph of waiting threads: the holder of each awaited
// lock, and the awaited thread of each join. The lock's memory may contain the
// thread id of the owner (stuck_locks.h). Otherwise the records of holds.h tell
// which threads hold the lock.

#ifndef MPROF_RT_STUCK_STUCK_HOLDERS_H
#define MPROF_RT_STUCK_STUCK_HOLDERS_H

#include "stuck/stuck_types.h"

// Sets the fields `holder`, `of` and those that belong to them, of all threads
// in g. Returns 0 or -ENOMEM. Call with registry_lock held, so that no thread
// ends.
int mprof_stuck_find_holders(struct mprof_stuck *g);

#endif // MPROF_RT_STUCK_STUCK_HOLDERS_H
