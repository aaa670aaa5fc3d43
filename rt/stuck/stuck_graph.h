// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the graph of waiting threads, and finds the threads that no other
// thread can ever wake. An edge of the graph leads from a waiting thread to the
// holder of the awaited lock, or to the thread that the waiting thread joins.
// The functions mprof_stuck_graph_* are called in this order:
//
//   take ---> judge ---> look_again ---> cycles
//               ^             |
//               +-- -EAGAIN --+
//
// Call all functions with the guard set.

#ifndef MPROF_RT_STUCK_STUCK_GRAPH_H
#define MPROF_RT_STUCK_STUCK_GRAPH_H

#include "stuck/stuck_types.h"

// Returns the index in g->v of the thread with id tid, or MPROF_NO_THREAD.
size_t mprof_stuck_graph_find(const struct mprof_stuck *g, int tid);
// Copies the waits of all registered threads that have lasted for at least age
// ticks, and finds the holders of the awaited locks. If age is 0, also finds
// the locks of unnoted waits (waits that the threads have not recorded),
// because their age is unknown. Returns 0 or -ENOMEM.
// stopped: the slots of all threads, if the caller has stopped all threads and
//   holds registry_lock. NULL: the threads are not stopped, and the function
//   itself takes stacks_lock and registry_lock.
int mprof_stuck_graph_take(struct mprof_stuck *g, uint64_t age,
                           const struct mprof_thread_stacks *stopped);
// Sets the grade of each thread, which says whether the thread is stuck.
// scanned: true: mprof_stuck_scan has set is_reached of all threads. false:
//   memory was not searched, so every awaited object counts as reached.
void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned);
// Sets may_run of all threads, based on the current values of is_reached.
void mprof_stuck_graph_settle(struct mprof_stuck *g);
// Finds the cycles of stuck threads and numbers them.
void mprof_stuck_graph_cycles(struct mprof_stuck *g);
// Checks that the threads that are graded as stuck still wait for locks with
// the same owners, and takes the threads' stacks. Returns 0, -ENOMEM or
// -EAGAIN. -EAGAIN means that one of these threads no longer waits, or does not
// sleep in the object of its recorded wait. After -EAGAIN the caller must call
// mprof_stuck_graph_judge again. Takes stacks_lock and registry_lock.
int mprof_stuck_graph_look_again(struct mprof_stuck *g);
void mprof_stuck_free(struct mprof_stuck *g);

#endif // MPROF_RT_STUCK_STUCK_GRAPH_H
