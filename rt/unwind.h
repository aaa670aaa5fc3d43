// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a frame pointer to return addresses. (Go: fpTracebackPCs)

#ifndef MPROF_RT_UNWIND_H
#define MPROF_RT_UNWIND_H

#include "bucket.h"

// The part of a thread's own stack that is known to be readable; it stays so as
// long as the thread lives. Other stacks it may run on come and go, so nothing
// is remembered of them.
struct mprof_stack_range {
  uintptr_t lo, hi; // equal at first; hi is where the thread's stack ends
  bool is_main;     // of the process's first thread
};
// That of the calling thread.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main);

// At start: finds libc.
void mprof_unwind_init(void);
// Before the first stack: finds where makecontext's stacks begin. Not at start,
// where a program that allocates nothing would pay for it.
void mprof_unwind_learn_roots(void);

// Follows the chain that begins at fp, the frame address of the hook's entry,
// so the first return address lies in the function with the call site.
// Writes at most depth return addresses to pcs and returns how many; *end says
// whether the last is the thread's root. Reads only memory inside range, which
// it widens as the kernel confirms; so it cannot fault on any stack.
size_t mprof_unwind(struct mprof_stack_range *range, uintptr_t fp,
                    mprof_pc *pcs, size_t depth, enum mprof_stack_end *end);

#endif // MPROF_RT_UNWIND_H
