// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches memory for the conditions, semaphores and barriers that threads wait
// for. All threads are stopped, the process is copied, and the threads go on. A
// helper process makes the search in the copy. An object that a thread which
// may run can reach may still wake its waiters.

#ifndef MPROF_RT_STUCK_STUCK_SCAN_H
#define MPROF_RT_STUCK_STUCK_SCAN_H

#include "stuck/stuck_types.h"

// Takes g anew while all threads stand still, and sets is_reached of all its
// threads. caller, age: as of mprof_stuck_take. Call with the guard set.
// Returns 0; -ENOMEM; or -ECANCELED, and then g->unjudged tells the reason.
int mprof_stuck_scan(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_SCAN_H
