// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the stacks of all threads (thread_stacks.h), so that a profile shows
// equal stacks once, with their number of threads.

#ifndef MPROF_RT_SNAPSHOT_GROUP_THREADS_H
#define MPROF_RT_SNAPSHOT_GROUP_THREADS_H

struct mprof_thread_stacks;

// Merges slots of s that have equal stacks and labels and are equal in three
// fields (thread_slots.h): the object for which a stuck thread waits
// (stack.object), how the stack was read (source), and how certain it is that
// the thread is stuck (grade). A slot has the stack of one thread. Sets the
// count of each remaining slot to its number of threads. Then sorts the slots
// by count, largest first.
void mprof_thread_stacks_group(struct mprof_thread_stacks *s);

// Subtracts the counts of `before` from those of `after`. Both are grouped by
// mprof_thread_stacks_group. *d refers to slots of both, whose counts this
// function changes. A negative count is a number modulo 2^64. Returns 0 or
// -ENOMEM. Free d->v with mprof_thread_stacks_free_difference, before the two
// others are freed.
int mprof_thread_stacks_subtract(struct mprof_thread_stacks *d,
                                 const struct mprof_thread_stacks *after,
                                 const struct mprof_thread_stacks *before);
void mprof_thread_stacks_free_difference(struct mprof_thread_stacks *d);

#endif // MPROF_RT_SNAPSHOT_GROUP_THREADS_H
