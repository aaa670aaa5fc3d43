// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the runtime's profiles as gzipped profile.proto (pprof.h). Each
// function replaces path by a new file, and returns 0 or -errno, after
// which path is unchanged. Call with the guard set and writer_lock held.

#ifndef MPROF_RT_WRITE_WRITE_PPROF_H
#define MPROF_RT_WRITE_WRITE_PPROF_H

#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "thread_stacks/thread_stacks.h"

struct mprof_outfile;

// Each writes one profile to f and returns 0 or the first error of f, which the
// caller closes. Call with the guard set and writer_lock held.

// Writes the profile "heap"; or "allocs", which readers show with alloc_space
// first, if allocs_first. (Go: writeHeapProto)
int mprof_write_heap_pprof(struct mprof_outfile *f,
                           const struct mprof_mem_snapshot *s,
                           bool allocs_first);
// Writes the profile "heapx".
int mprof_write_heapx_pprof(struct mprof_outfile *f,
                            const struct mprof_mem_snapshot *s);
// Writes the profile "block" or "mutex". Locks are written as labels, so s must
// have been taken without by_stack.
int mprof_write_wait_pprof(struct mprof_outfile *f,
                           const struct mprof_wait_snapshot *s);
// Writes the profile "threadcreate".
int mprof_write_threadcreate_pprof(struct mprof_outfile *f,
                                   const struct mprof_threadcreate_snapshot *s);
// Writes a profile of thread stacks. s: grouped (group_threads.h). name: name
// of the profile, which goes into the file.
int mprof_write_threads_pprof(struct mprof_outfile *f,
                              const struct mprof_thread_stacks *s,
                              const char *name);

#endif // MPROF_RT_WRITE_WRITE_PPROF_H
