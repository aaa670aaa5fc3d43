// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph of who waits for whom, and the threads in it that no other thread
// can ever wake. An edge leads from a waiting thread to the holder of the lock,
// or to the thread that it joins.
//
//   take ---> judge ---> look_again ---> cycles
//               ^             |
//               +-- -EAGAIN --+
//
// Call all functions with the guard set.

#ifndef MPROF_RT_STUCK_STUCK_GRAPH_H
#define MPROF_RT_STUCK_STUCK_GRAPH_H

#include "stuck/stuck_types.h"

// Returns the index of the registered thread with id tid, or MPROF_NO_THREAD.
size_t mprof_stuck_graph_find(const struct mprof_stuck *g, int tid);
// Copies the waits of all registered threads that have lasted for at least age
// ticks, and finds the holders. stopped: all threads stand still in a round of
// the caller's, and the caller holds registry_lock; otherwise takes stacks_lock
// and registry_lock. Returns 0 or -ENOMEM.
int mprof_stuck_graph_take(struct mprof_stuck *g, uint64_t age, bool stopped);
// Grades all threads anew. scanned: is_reached is set; otherwise every object
// counts as reached.
void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned);
// Sets may_run of all threads, by the present values of is_reached.
void mprof_stuck_graph_settle(struct mprof_stuck *g);
// Numbers the cycles of stuck threads.
void mprof_stuck_graph_cycles(struct mprof_stuck *g);
// Looks again at the threads that are graded as stuck, and takes their stacks.
// Takes stacks_lock and registry_lock. Returns 0; -ENOMEM; or -EAGAIN if one of
// the threads no longer waits, or does not sleep where its note says: then all
// threads must be judged anew.
int mprof_stuck_graph_look_again(struct mprof_stuck *g);
void mprof_stuck_free(struct mprof_stuck *g);

#endif // MPROF_RT_STUCK_STUCK_GRAPH_H
