// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles as profile.proto, gzipped.

#ifndef MPROF_RT_WRITE_WRITE_PPROF_H
#define MPROF_RT_WRITE_WRITE_PPROF_H

#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "wait/thread_stacks.h"

struct mprof_outfile;

// Each returns 0 or an errno value.

// profile.proto, gzipped. (Go: writeHeapProto)
int mprof_write_heap_pprof(struct mprof_outfile *f,
                           const struct mprof_mem_snapshot *s,
                           bool allocs_first);
int mprof_write_heapx_pprof(struct mprof_outfile *f,
                            const struct mprof_mem_snapshot *s);
// The locks are labels, so of a snapshot that is not by stack.
int mprof_write_wait_pprof(struct mprof_outfile *f,
                           const struct mprof_wait_snapshot *s);
int mprof_write_thread_pprof(struct mprof_outfile *f,
                             const struct mprof_thread_snapshot *s);
// name: of the profile, which the file says; of grouped stacks.
int mprof_write_stacks_pprof(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s,
                             const char *name);

#endif // MPROF_RT_WRITE_WRITE_PPROF_H
