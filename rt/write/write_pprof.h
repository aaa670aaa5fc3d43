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

// Each returns 0 or an errno value.

// profile.proto, gzipped. (Go: writeHeapProto)
int mprof_write_heap_pprof(const struct mprof_mem_snapshot *s, const char *path,
                           bool allocs_first);
int mprof_write_heapx_pprof(const struct mprof_mem_snapshot *s,
                            const char *path);
// The locks are labels, so of a snapshot that is not by stack.
int mprof_write_wait_pprof(const struct mprof_wait_snapshot *s,
                           const char *path);
int mprof_write_thread_pprof(const struct mprof_thread_snapshot *s,
                             const char *path);
// name: of the profile, which the file says; of grouped stacks.
int mprof_write_stacks_pprof(const struct mprof_thread_stacks *s,
                             const char *name, const char *path);

#endif // MPROF_RT_WRITE_WRITE_PPROF_H
