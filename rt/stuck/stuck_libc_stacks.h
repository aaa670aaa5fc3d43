// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds, in the areas of stuck_memory.h, the stacks that libc has allocated for
// threads. The top of such a stack contains the thread's control block (glibc:
// struct pthread), to which the thread's pthread_t points:
//
//   start                          block           limit
//   |   stack, which grows down    | control block |
//
// The guard pages below the stack may be a separate area. In this case the
// result does not contain them. Call the functions here only in a helper
// process, whose memory no other thread changes.

#ifndef MPROF_RT_STUCK_STUCK_LIBC_STACKS_H
#define MPROF_RT_STUCK_STUCK_LIBC_STACKS_H

#include "stuck/stuck_memory.h"

struct mprof_libc_stack {
  uintptr_t start, block, limit;
  // Id of the thread, read from its control block. Only
  // mprof_memory_last_libc_stack sets this field.
  int tid;
};

// Finds the stack of the thread whose control block is at the address `block`
// in area a. Any value of `block` is allowed. Returns false, and leaves *s
// unchanged, if the memory at `block` is not known to be a thread's control
// block.
bool mprof_memory_libc_stack(const struct mprof_area *a, uintptr_t block,
                             struct mprof_libc_stack *s);
// Finds the stack at the end of area a, and the id of its thread. Returns false
// if there is no such stack. With musl, always returns false.
bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s);
// Removes from the areas the stacks of ended threads, which libc keeps for new
// threads. Such a stack still contains addresses that the ended thread has
// stored, and the search (stuck_scan.h) must not follow these addresses. If the
// ended thread can still be joined, its control block is not removed, because
// the control block contains the thread's result.
// is_used: returns whether a thread with id tid still runs.
void mprof_memory_cut_unused_stacks(struct mprof_memory *m,
                                    bool (*is_used)(void *arg, int tid),
                                    void *arg);

#endif // MPROF_RT_STUCK_STUCK_LIBC_STACKS_H
