// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks of all threads, grouped.

#ifndef MPROF_RT_SNAPSHOT_GROUP_THREADS_H
#define MPROF_RT_SNAPSHOT_GROUP_THREADS_H

struct mprof_thread_stacks;

// Groups the slots: one for each stack and source, most threads first.
void mprof_thread_stacks_group(struct mprof_thread_stacks *s);

#endif // MPROF_RT_SNAPSHOT_GROUP_THREADS_H
