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
// The guard below the stack does not count as part of the stack if it is an
// area of its own. Like stuck_memory.h, this works only in a helper process,
// whose memory no other thread changes.

#ifndef MPROF_RT_STUCK_STUCK_LIBC_STACKS_H
#define MPROF_RT_STUCK_STUCK_LIBC_STACKS_H

#include "stuck/stuck_memory.h"

struct mprof_libc_stack {
  uintptr_t start, block, limit;
  // Id of the thread, from the block. Only mprof_memory_last_libc_stack sets
  // it.
  int tid;
};

// Finds the stack in area a whose thread has its own block at address block.
// Any address is allowed. Returns false, and leaves *s unchanged, if the memory
// there is not known to be the block of a thread.
bool mprof_memory_libc_stack(const struct mprof_area *a, uintptr_t block,
                             struct mprof_libc_stack *s);
// Finds the stack at the end of area a, and the id of its thread. Returns false
// if there is none, and always with musl.
bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s);
// Cuts the stacks that libc keeps for new threads out of the areas, because
// they still hold the words of threads that have ended. is_used(arg, tid):
// returns whether a thread with id tid runs. If the last thread of a stack can
// still be joined, its block is not cut: it has the result for the thread that
// joins.
void mprof_memory_cut_unused_stacks(struct mprof_memory *m,
                                    bool (*is_used)(void *arg, int tid),
                                    void *arg);

#endif // MPROF_RT_STUCK_STUCK_LIBC_STACKS_H
