// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who waits for whom, and which threads nobody can ever wake.

#ifndef MPROF_RT_STUCK_STUCK_GRAPH_H
#define MPROF_RT_STUCK_STUCK_GRAPH_H

#include "stuck/stuck_types.h"

// The index of a registered thread, or MPROF_NO_THREAD.
size_t mprof_stuck_graph_find(const struct mprof_stuck *g, int tid);
// Copies what the registered threads wait for, if they have for age ticks.
// stopped: they stand still, in a round of the caller's, which has the
// registry's lock. 0 or ENOMEM.
int mprof_stuck_graph_take(struct mprof_stuck *g, uint64_t age, bool stopped);
// Grades all threads anew. scanned: is_reached counts; else everything is.
void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned);
// Sets may_run of all that may, with what is_reached says.
void mprof_stuck_graph_settle(struct mprof_stuck *g);
// Numbers the cycles of those that are stuck.
void mprof_stuck_graph_cycles(struct mprof_stuck *g);
// Looks again at those that are stuck, and takes their stacks. 0, ENOMEM, or
// EAGAIN if any waits no more, or elsewhere than its note says: then all is to
// be judged anew.
int mprof_stuck_graph_look_again(struct mprof_stuck *g);
void mprof_stuck_free(struct mprof_stuck *g);

#endif // MPROF_RT_STUCK_STUCK_GRAPH_H
