// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocation log of the option alloc_log: a text with a record for each
// block that is counted, for its free, and for each garbage collection, as they
// come. (Go: tracealloc, tracefree, tracegc)
//
// Records go to the file one by one, so that a process that is killed leaves
// all that it did. When the file is full it is renamed to PATH.1, in place of
// the one before, and a new one begins.

#ifndef MPROF_RT_HEAP_ALLOC_LOG_H
#define MPROF_RT_HEAP_ALLOC_LOG_H

#include "bucket/bucket.h"

// Whose block it is; an address may be one of each at a time.
enum mprof_log_kind {
  MPROF_LOG_HEAP,
  MPROF_LOG_CUSTOM, // of the program's own allocators
  MPROF_LOG_GC,     // of a garbage collector
};

// At start: opens the file, if the option names one, and says why if it cannot.
// Whether there is a log.
bool mprof_alloc_log_init(void);
// In a forked child: the file is its parent's. Then, if the child is to be
// profiled, it opens one of its own, or says that it has none; as at start.
void mprof_alloc_log_leave(void);
bool mprof_alloc_log_start_in_child(void);

// Events. Call with the guard set, while there is a log, and before another
// thread can have the address. A frame is the frame address of a function whose
// caller comes first on the stack; 0 stands for the entry that this is called
// from.

// A block of b has come. The stack is that of b.
void mprof_alloc_log_alloc(const struct mprof_bucket *b, const void *ptr,
                           enum mprof_log_kind kind);
// It goes. b NULL: a block that is not counted. There is a record of that only
// while every block is counted: it has been freed before, or came from where
// none are.
void mprof_alloc_log_free(const struct mprof_bucket *b, const void *ptr,
                          enum mprof_log_kind kind, uintptr_t frame);
// A collection has ended. Not while other threads are stopped.
void mprof_alloc_log_collection(uintptr_t frame);
// An event that there can be no record of. Needs no guard.
void mprof_alloc_log_lose(void);

// At the end of the process: the log's path, and how many records it has got;
// NULL if there is none.
const char *mprof_alloc_log_path(uint64_t *records);

#endif // MPROF_RT_HEAP_ALLOC_LOG_H
