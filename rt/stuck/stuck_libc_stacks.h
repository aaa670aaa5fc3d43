// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the stacks that libc has allocated for threads in the areas of
// stuck_memory.h. The top of such a stack contains the thread's control block
// (glibc: struct pthread), to which the thread's pthread_t points:
//
//   start                          block           limit
//   |   stack, which grows down    | control block |
//
// If the guard pages below the stack are an area of their own, they are not
// part of the stack found. Call the functions here only in a helper process,
// whose memory no other thread changes.

#ifndef MPROF_RT_STUCK_STUCK_LIBC_STACKS_H
#define MPROF_RT_STUCK_STUCK_LIBC_STACKS_H

#include "stuck/stuck_memory.h"

struct mprof_libc_stack {
  uintptr_t start, block, limit;
  // Id of the thread, from the control block. Only mprof_memory_last_libc_stack
  // sets this field.
  int tid;
};

// Finds the stack in area a whose thread has its control block at the address
// block. Any address is allowed. Returns false, and leaves *s unchanged, if the
// memory at this address is not known to be the control block of a thread.
bool mprof_memory_libc_stack(const struct mprof_area *a, uintptr_t block,
                             struct mprof_libc_stack *s);
// Finds the stack at the end of area a, and the id of its thread. Returns false
// if there is no stack. With musl, always returns false.
bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s);
// Removes from the areas the stacks that libc keeps for new threads, because
// such stacks still contain the words of threads that have ended. is_used(arg,
// tid) returns whether a thread with id tid runs. If the thread that had the
// stack can still be joined, its control block is not removed, because the
// block contains the thread's result.
void mprof_memory_cut_unused_stacks(struct mprof_memory *m,
                                    bool (*is_used)(void *arg, int tid),
                                    void *arg);

#endif // MPROF_RT_STUCK_STUCK_LIBC_STACKS_H
