// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocation log (option alloc_log): a text file with a record for each
// allocation and each free of a counted block, that is, of a block that
// sampling has selected, and for each garbage collection. (Go: tracealloc,
// tracefree, tracegc)
//
// Each record is written to the file immediately, so the log of a killed
// process is complete. When the file is full, it is renamed to PATH.1, and a
// new file begins at PATH. An older PATH.1 is replaced.

#ifndef MPROF_RT_HEAP_ALLOC_LOG_H
#define MPROF_RT_HEAP_ALLOC_LOG_H

#include "sys/base.h"

struct mprof_bucket;

// The allocator that owns a logged block. Blocks of different allocators may
// have the same address at the same time, because an arena's first block has
// the address of the arena.
enum mprof_log_kind {
  MPROF_LOG_HEAP,
  MPROF_LOG_CUSTOM, // an allocator that the program defines
  MPROF_LOG_GC,     // a garbage collector
};

// Opens the log if the option alloc_log names a file. Call this at the start of
// the process. Returns whether the log is open. Reports a failure on stderr.
bool mprof_alloc_log_init(void);
// Call these functions in a forked child. First, mprof_alloc_log_leave closes
// the parent's file. If the child is profiled, mprof_alloc_log_start_in_child
// then opens a new file, or reports on stderr that the child has no log. The
// result tells whether the log is open.
void mprof_alloc_log_leave(void);
bool mprof_alloc_log_start_in_child(void);

// The next functions record events. Call them with the recursion guard set,
// while the log is open, and before the allocator can give the block's address
// to another thread. The parameter `frame` is the frame address of a function
// whose caller is the first frame of the record's stack. If `frame` is 0, the
// record's stack begins with the caller of the runtime's entry.

// Records the allocation of the block at ptr, which is counted in the bucket b.
// The record shows the stack of b.
void mprof_alloc_log_alloc(const struct mprof_bucket *b, const void *ptr,
                           enum mprof_log_kind kind);
// Records the free of the block at ptr. b is the block's bucket, or NULL if the
// block is not counted. If b is NULL, the free is recorded only if heap_rate is
// 1. With this rate every block is counted, so a block without a bucket was
// freed twice, or was allocated by uninstrumented code.
void mprof_alloc_log_free(const struct mprof_bucket *b, const void *ptr,
                          enum mprof_log_kind kind, uintptr_t frame);
// Records the end of a garbage collection. Do not call this while the collector
// has stopped the other threads, because a stopped thread may hold log_lock.
void mprof_alloc_log_collection(uintptr_t frame);
// Adds 1 to the number of lost events. Call this for an event that cannot be
// recorded. The recursion guard need not be set.
void mprof_alloc_log_lose(void);

// Returns the path of the log, or NULL if there is no log. Stores the number of
// records in *records. Call this at the end of the process.
const char *mprof_alloc_log_path(uint64_t *records);

#endif // MPROF_RT_HEAP_ALLOC_LOG_H
