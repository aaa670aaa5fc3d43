// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the stacks of all threads (thread_stacks.h) for the profiles that show
// thread stacks.

#ifndef MPROF_RT_SNAPSHOT_GROUP_THREADS_H
#define MPROF_RT_SNAPSHOT_GROUP_THREADS_H

struct mprof_thread_stacks;

// Merges the slots that have equal stack, labels, object, source and grade.
// Sorts the slots, most threads first. The count of each remaining slot is its
// number of threads.
void mprof_thread_stacks_group(struct mprof_thread_stacks *s);

#endif // MPROF_RT_SNAPSHOT_GROUP_THREADS_H
