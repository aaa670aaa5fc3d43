// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the stacks of all threads as text: for people, one thread after the
// other, and as legacy text (legacy.h). write_pprof.h writes them as
// profile.proto.

#ifndef MPROF_RT_WRITE_WRITE_THREAD_STACKS_H
#define MPROF_RT_WRITE_WRITE_THREAD_STACKS_H

#include "thread_stacks/thread_stacks.h"

struct mprof_outfile;

// Writes each thread of s separately. s must not be grouped. Returns 0 or the
// first error of f. The caller closes f. Call with the recursion guard set and
// writer_lock held. (Go: writeGoroutineStacks)
int mprof_write_threads_list(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s);
// Writes stacks that were grouped by mprof_thread_stacks_group as legacy text.
// Otherwise as mprof_write_threads_list. (Go: printCountProfile)
// name: name of the profile, which is written to the file.
int mprof_write_threads_text(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s,
                             const char *name);

#endif // MPROF_RT_WRITE_WRITE_THREAD_STACKS_H
