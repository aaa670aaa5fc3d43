// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event at a frame: unwinds the stack and looks up the
// bucket of this stack. Two caches in the thread's record make repeated events
// fast.

#ifndef MPROF_RT_BUCKET_BUCKET_AT_H
#define MPROF_RT_BUCKET_BUCKET_AT_H

#include "bucket/bucket.h"
#include "thread/threads.h"

// Returns the bucket of *key for the stack at frame, or NULL if there is no
// memory. Sets the stack in *key. Call with the guard set.
// t: record of the calling thread; it must have a scratch buffer, to which the
//   stack is written.
// leaf: an address to insert before the stack; 0: none.
// frame: frame address of a hook's entry.
struct mprof_bucket *mprof_bucket_at(struct mprof_thread *t,
                                     struct mprof_bucket_key *key,
                                     mprof_pc leaf, uintptr_t frame);

#endif // MPROF_RT_BUCKET_BUCKET_AT_H
