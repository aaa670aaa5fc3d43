// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event: recognizes the thread's stack from a given
// frame on among its latest stacks, or unwinds it, and looks up the bucket of
// this stack.

#ifndef MPROF_RT_BUCKET_BUCKET_AT_H
#define MPROF_RT_BUCKET_BUCKET_AT_H

#include "bucket/bucket.h"
#include "thread/threads.h"

// Returns the bucket for the stack from `frame` on and for the properties in
// *key, or NULL if there is no memory. The caller sets all fields of *key
// except the stack, and key->cell to NULL. This function may write the stack
// and the cell to *key. Call with the recursion guard set.
// t: record of the calling thread. Its field `scratch` must not be NULL,
//   because the stack is written to this buffer.
// leaf: an address to insert before the stack; 0: none.
// frame: frame address of the runtime's function that the program has called.
// The stack begins with the caller of this function.
struct mprof_bucket *mprof_bucket_at(struct mprof_thread *t,
                                     struct mprof_bucket_key *key,
                                     mprof_pc leaf, uintptr_t frame);

#endif // MPROF_RT_BUCKET_BUCKET_AT_H
