// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks that libc has made for threads, found in the areas of
// stuck_memory.h. Such a stack has the thread's own block on its top, where its
// pthread_t points:
//
//   start                          block          limit
//   |   stack, which grows down    |  own block   |
//
// A guard below the stack is left out, if it is an area of its own. Like
// stuck_memory.h, this works only in a helper process, whose memory nobody
// changes.

#ifndef MPROF_RT_STUCK_STUCK_LIBC_STACKS_H
#define MPROF_RT_STUCK_STUCK_LIBC_STACKS_H

#include "stuck/stuck_memory.h"

struct mprof_libc_stack {
  uintptr_t start, block, limit;
  int tid; // as the block has it; set by mprof_memory_last_libc_stack only
};

// Finds the stack in an area whose thread has its block at an address, which
// may be any. Returns false, and leaves *s as it was, if it is not known to be
// the block of a thread.
bool mprof_memory_libc_stack(const struct mprof_area *a, uintptr_t block,
                             struct mprof_libc_stack *s);
// Finds the stack that an area ends with, and the number of its thread.
bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s);
// Cuts the stacks that libc keeps for new threads out of the areas: they still
// hold the words of threads that have ended. is_used: whether a thread of that
// number runs. If the last thread of a stack can still be joined, the block
// stays: it has the result for the joining thread.
void mprof_memory_cut_unused_stacks(struct mprof_memory *m,
                                    bool (*is_used)(void *arg, int tid),
                                    void *arg);

#endif // MPROF_RT_STUCK_STUCK_LIBC_STACKS_H
