// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches memory for the conditions, semaphores and barriers that threads wait
// for. All threads are stopped, the process is copied, and the threads
// continue. A helper process searches the copy. If a thread that may run can
// reach an object, this thread may still wake the object's waiters.

#ifndef MPROF_RT_STUCK_STUCK_SCAN_H
#define MPROF_RT_STUCK_STUCK_SCAN_H

#include "stuck/stuck_types.h"

// Stops all threads, fills g again (mprof_stuck_graph_take), and sets
// is_reached of all threads in g. caller and age have the same meaning as in
// mprof_stuck_take. Call with the guard set. Returns 0, -ENOMEM or -ECANCELED.
// For -ECANCELED, g->unjudged tells the reason.
int mprof_stuck_scan(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_SCAN_H
