// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks of all threads, for people.

#ifndef MPROF_RT_WRITE_WRITE_THREAD_STACKS_H
#define MPROF_RT_WRITE_WRITE_THREAD_STACKS_H

#include "wait/thread_stacks.h"

struct mprof_outfile;

// Each thread by itself, for people. (Go: writeGoroutineStacks)
int mprof_write_stacks_list(struct mprof_outfile *f,
                            const struct mprof_thread_stacks *s);

#endif // MPROF_RT_WRITE_WRITE_THREAD_STACKS_H
