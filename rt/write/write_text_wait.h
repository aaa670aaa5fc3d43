// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles of waits and of threads as legacy text.

#ifndef MPROF_RT_WRITE_WRITE_TEXT_WAIT_H
#define MPROF_RT_WRITE_WRITE_TEXT_WAIT_H

#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "wait/thread_stacks.h"

struct mprof_outfile;

// (Go: printCountCycleProfile, printCountProfile)
int mprof_write_wait_text(struct mprof_outfile *f,
                          const struct mprof_wait_snapshot *s);
// The names are not shown, so of a snapshot by stack.
int mprof_write_thread_text(struct mprof_outfile *f,
                            const struct mprof_thread_snapshot *s);
// The same of grouped stacks.
int mprof_write_stacks_text(struct mprof_outfile *f,
                            const struct mprof_thread_stacks *s,
                            const char *name);

#endif // MPROF_RT_WRITE_WRITE_TEXT_WAIT_H
