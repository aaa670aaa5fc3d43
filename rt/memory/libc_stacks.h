// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks that glibc has allocated for threads, in the memory of a process.
// The top of such a stack contains the thread's control block (struct pthread).

#ifndef MPROF_RT_MEMORY_LIBC_STACKS_H
#define MPROF_RT_MEMORY_LIBC_STACKS_H

#include "memory/process_memory.h"

struct mprof_stack_found {
  uintptr_t start, limit; // without guard pages
  int tid;                // 0 or less: the thread has ended
};

// Searches mapping m, whose predecessor is a guard page, for a stack at its
// begin. *pages: the number of resident pages that may still be searched.
bool mprof_libc_stack_find(struct mprof_process *p,
                           const struct mprof_mapped *m, size_t *pages,
                           struct mprof_stack_found *s);

#endif // MPROF_RT_MEMORY_LIBC_STACKS_H
