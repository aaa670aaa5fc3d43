// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocation log (option alloc_log): a text file with one record for each
// counted block, for each free of such a block, and for each garbage
// collection. (Go: tracealloc, tracefree, tracegc)
//
// Each record is written to the file at once, so the log of a killed process is
// complete. A full file is renamed to PATH.1, which replaces an older PATH.1,
// and a new file begins.

#ifndef MPROF_RT_HEAP_ALLOC_LOG_H
#define MPROF_RT_HEAP_ALLOC_LOG_H

#include "bucket/bucket.h"

// The owner of a logged block. One address may hold a block of each kind at the
// same time.
enum mprof_log_kind {
  MPROF_LOG_HEAP,
  MPROF_LOG_CUSTOM, // an allocator of the program
  MPROF_LOG_GC,     // a garbage collector
};

// Opens the file at start if the option names one. Returns whether there is a
// log. A failure is reported on stderr.
bool mprof_alloc_log_init(void);
// A forked child calls leave first: it drops the parent's file. A child that is
// profiled then calls start_in_child, which opens a file of its own or reports
// that the child has none. Returns whether there is a log.
void mprof_alloc_log_leave(void);
bool mprof_alloc_log_start_in_child(void);

// Events. Call these functions with the guard set, while there is a log, and
// before another thread can get the address. frame is the frame address of a
// function; the record's stack begins with that function's caller. 0 stands for
// the frame of the entry that the call comes from.

// Records a new block of b. The record shows b's stack.
void mprof_alloc_log_alloc(const struct mprof_bucket *b, const void *ptr,
                           enum mprof_log_kind kind);
// Records the free of a block of b, or of a block that is not counted (b is
// NULL). A free of the latter kind is recorded only while every block is
// counted: then the block was freed before, or was allocated by uninstrumented
// code.
void mprof_alloc_log_free(const struct mprof_bucket *b, const void *ptr,
                          enum mprof_log_kind kind, uintptr_t frame);
// Records the end of a collection. Do not call it while other threads are
// stopped.
void mprof_alloc_log_collection(uintptr_t frame);
// Counts an event that cannot be recorded. Needs no guard.
void mprof_alloc_log_lose(void);

// Returns the log's path and stores the number of its records in *records.
// Returns NULL if there is no log. Called at the end of the process.
const char *mprof_alloc_log_path(uint64_t *records);

#endif // MPROF_RT_HEAP_ALLOC_LOG_H
