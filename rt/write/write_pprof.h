// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the built-in profiles as gzipped profile.proto (pprof.h).

#ifndef MPROF_RT_WRITE_WRITE_PPROF_H
#define MPROF_RT_WRITE_WRITE_PPROF_H

#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "thread_stacks/thread_stacks.h"

struct mprof_outfile;

// Each function writes one profile to f, and returns 0 or the first error of f.
// The caller closes f. Call with the guard set and writer_lock held.

// Writes the profile "heap". If allocs_first, writes "allocs", whose
// alloc_space readers show first. (Go: writeHeapProto)
int mprof_write_heap_pprof(struct mprof_outfile *f,
                           const struct mprof_mem_snapshot *s,
                           bool allocs_first);
// Writes the profile "heapx".
int mprof_write_heapx_pprof(struct mprof_outfile *f,
                            const struct mprof_mem_snapshot *s);
// Writes the profile "block" or "mutex". Samples have their lock as a label, so
// s must have been taken with by_stack false.
int mprof_write_wait_pprof(struct mprof_outfile *f,
                           const struct mprof_wait_snapshot *s);
// Writes the profile "threadcreate".
int mprof_write_threadcreate_pprof(struct mprof_outfile *f,
                                   const struct mprof_threadcreate_snapshot *s);
// Writes a profile of thread stacks. s: grouped by mprof_thread_stacks_group.
// name: name of the profile, which is written to the file.
int mprof_write_threads_pprof(struct mprof_outfile *f,
                              const struct mprof_thread_stacks *s,
                              const char *name);

#endif // MPROF_RT_WRITE_WRITE_PPROF_H
