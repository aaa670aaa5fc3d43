// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches memory for the conditions, semaphores and barriers that threads wait
// for. All threads are stopped, the process is copied, and the threads
// continue. A helper process then searches the copy. If a thread that may run
// can reach an object, this thread may still wake the threads that wait for the
// object.

#ifndef MPROF_RT_STUCK_STUCK_SCAN_H
#define MPROF_RT_STUCK_STUCK_SCAN_H

#include "stuck/stuck_types.h"

// Stops all threads, fills g again by mprof_stuck_graph_take, and sets
// is_reached of all threads in g. Call with the guard set. Returns 0, -ENOMEM
// or -ECANCELED. If the result is -ECANCELED, g->unjudged tells the reason.
// caller: the program's frames and registers in the calling thread.
// age: in ticks; shorter waits are ignored.
int mprof_stuck_scan(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_SCAN_H
