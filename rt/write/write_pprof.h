// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the built-in profiles as gzipped files in the format profile.proto
// (pprof.h).

#ifndef MPROF_RT_WRITE_WRITE_PPROF_H
#define MPROF_RT_WRITE_WRITE_PPROF_H

#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "thread_stacks/thread_stacks.h"

struct mprof_outfile;

// Each function writes one profile to f, and returns 0 or the first error of f.
// The caller closes f. Call these functions with the recursion guard set and
// writer_lock held.

// Writes the profile "heap". (Go: writeHeapProto)
// allocs_first: true: writes the profile "allocs". Both have the same samples,
//   but readers of "allocs" show alloc_space first.
int mprof_write_heap_pprof(struct mprof_outfile *f,
                           const struct mprof_mem_snapshot *s,
                           bool allocs_first);
// Writes the profile "peak".
// s: a snapshot that was taken by mprof_mem_snapshot_take_peak.
int mprof_write_peak_pprof(struct mprof_outfile *f,
                           const struct mprof_mem_snapshot *s);
// Writes the profile "heapx".
int mprof_write_heapx_pprof(struct mprof_outfile *f,
                            const struct mprof_mem_snapshot *s);
// Writes the profile "block" or "mutex". The snapshot s must have been taken by
// mprof_wait_snapshot_take with by_stack == false, so that each sample still
// has its lock, which becomes a label.
int mprof_write_wait_pprof(struct mprof_outfile *f,
                           const struct mprof_wait_snapshot *s);
// Writes the profile "threadcreate".
int mprof_write_threadcreate_pprof(struct mprof_outfile *f,
                                   const struct mprof_threadcreate_snapshot *s);
// Writes a profile of thread stacks.
// s: stacks that were grouped by mprof_thread_stacks_group.
// name: name of the profile, which is written to the file.
int mprof_write_threads_pprof(struct mprof_outfile *f,
                              const struct mprof_thread_stacks *s,
                              const char *name);

#endif // MPROF_RT_WRITE_WRITE_PPROF_H
