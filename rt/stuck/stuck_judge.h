// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the threads that no other thread can ever wake, and the cycles of such
// threads. Call all functions with the guard set. They take no lock, because
// only the calling thread uses the graph.

#ifndef MPROF_RT_STUCK_STUCK_JUDGE_H
#define MPROF_RT_STUCK_STUCK_JUDGE_H

#include "stuck/stuck_types.h"

// Sets the grade of each thread, which says whether the thread is stuck.
// scanned: true: mprof_stuck_scan has set is_reached of all threads. false:
//   memory was not searched, so every awaited object counts as reached.
void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned);
// Sets may_run of all threads, based on the current values of is_reached.
void mprof_stuck_graph_settle(struct mprof_stuck *g);
// Finds the cycles of stuck threads and numbers them.
void mprof_stuck_graph_cycles(struct mprof_stuck *g);

#endif // MPROF_RT_STUCK_STUCK_JUDGE_H
