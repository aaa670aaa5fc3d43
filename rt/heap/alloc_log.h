// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocation log (option alloc_log) is a text file. It has one record for
// each counted block, for each free of a counted block, and for each garbage
// collection. (Go: tracealloc, tracefree, tracegc)
//
// Each record is written to the file immediately, so the log of a killed
// process is complete. A full file is renamed to PATH.1, which replaces an
// older PATH.1, and a new file begins.

#ifndef MPROF_RT_HEAP_ALLOC_LOG_H
#define MPROF_RT_HEAP_ALLOC_LOG_H

#include "bucket/bucket.h"

// The allocator that owns a logged block. Blocks of different kinds may have
// the same address at the same time.
enum mprof_log_kind {
  MPROF_LOG_HEAP,
  MPROF_LOG_CUSTOM, // an allocator that the program defines
  MPROF_LOG_GC,     // a garbage collector
};

// Opens the log at the start of the process if the option alloc_log names a
// file. Returns whether there is a log. Reports a failure on stderr.
bool mprof_alloc_log_init(void);
// Call these functions in a forked child. mprof_alloc_log_leave closes the
// parent's file and must be called first. If the child is profiled,
// mprof_alloc_log_start_in_child then opens a new file, or reports that the
// child has no log. Returns whether there is a log.
void mprof_alloc_log_leave(void);
bool mprof_alloc_log_start_in_child(void);

// Events. Call these functions with the guard set, while there is a log, and
// before the allocator can give the address to another thread. frame is the
// frame address of a function; the record's stack begins with that function's
// caller. If frame is 0, the record's stack begins with the caller of the
// runtime's entry.

// Records the allocation of a block in the bucket b. The record shows b's
// stack.
void mprof_alloc_log_alloc(const struct mprof_bucket *b, const void *ptr,
                           enum mprof_log_kind kind);
// Records the free of a block in the bucket b. b is NULL if the block is not
// counted. Such a free is recorded only in exact mode, in which every block is
// counted: the block was then freed twice, or was allocated by uninstrumented
// code.
void mprof_alloc_log_free(const struct mprof_bucket *b, const void *ptr,
                          enum mprof_log_kind kind, uintptr_t frame);
// Records the end of a garbage collection. Do not call this while the collector
// has stopped the other threads.
void mprof_alloc_log_collection(uintptr_t frame);
// Adds 1 to the number of lost events. Call this for an event that cannot be
// recorded. Needs no guard.
void mprof_alloc_log_lose(void);

// Returns the log's path, or NULL if there is no log. Stores the number of
// records in *records. Called at the end of the process.
const char *mprof_alloc_log_path(uint64_t *records);

#endif // MPROF_RT_HEAP_ALLOC_LOG_H
