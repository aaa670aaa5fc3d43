// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the profiles of waits and of threads as legacy text (legacy.h).

#ifndef MPROF_RT_WRITE_WRITE_TEXT_WAIT_H
#define MPROF_RT_WRITE_WRITE_TEXT_WAIT_H

#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "thread_stacks/thread_stacks.h"

struct mprof_outfile;

// Each function writes one profile to f, and returns 0 or the first error of f.
// The caller closes f. Call these functions with the recursion guard set and
// writer_lock held.

// Writes the profile "block" or "mutex". (Go: printCountCycleProfile)
int mprof_write_wait_text(struct mprof_outfile *f,
                          const struct mprof_wait_snapshot *s);
// Writes the profile "threadcreate". The caller must have taken the snapshot
// with by_stack == true (mprof_threadcreate_snapshot_take), because the text
// has no thread names. (Go: printCountProfile)
int mprof_write_threadcreate_text(struct mprof_outfile *f,
                                  const struct mprof_threadcreate_snapshot *s);
// Writes a profile of thread stacks. (Go: printCountProfile)
// s: stacks that were grouped by mprof_thread_stacks_group.
// name: name of the profile, which is written to the file.
int mprof_write_threads_text(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s,
                             const char *name);

#endif // MPROF_RT_WRITE_WRITE_TEXT_WAIT_H
