// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a frame to the bucket of its stack.

#ifndef MPROF_RT_BUCKET_BUCKET_AT_H
#define MPROF_RT_BUCKET_BUCKET_AT_H

#include "bucket/bucket.h"
#include "thread/threads.h"

// The bucket of *key with the stack of frame, the frame address of a hook's
// entry, which is unwound into the thread's scratch; leaf, if not 0, goes
// before it. NULL when there is no memory. Call with the
// guard set, and t with scratch.
struct mprof_bucket *mprof_bucket_at(struct mprof_thread *t,
                                     struct mprof_bucket_key *key,
                                     mprof_pc leaf, uintptr_t frame);

#endif // MPROF_RT_BUCKET_BUCKET_AT_H
