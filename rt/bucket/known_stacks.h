// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event by a known stack, for stacks that have many
// buckets: an allocation site often allocates blocks of many sizes, and a
// thread waits for many locks at one place. Call the functions of this file
// with the recursion guard set, and only if t->scratch is not NULL.

#ifndef MPROF_RT_BUCKET_KNOWN_STACKS_H
#define MPROF_RT_BUCKET_KNOWN_STACKS_H

#include "bucket/bucket.h"
#include "thread/threads.h"

// Remembers the stack of b, which has slots. `frame`: frame address of the
// runtime's function that the program has called. The stack begins with the
// caller of this function, and lies on the thread's own stack.
void mprof_known_stack_add(struct mprof_thread *t, struct mprof_bucket *b,
                           uintptr_t frame);
// Returns the bucket of *key for the stack from `frame` on, if the thread
// remembers this stack with any size or object, and inserts the bucket if
// needed. Otherwise returns NULL. May set key->cell, and the stack in *key.
struct mprof_bucket *mprof_known_stack_bucket(struct mprof_thread *t,
                                              struct mprof_bucket_key *key,
                                              uintptr_t frame);

#endif // MPROF_RT_BUCKET_KNOWN_STACKS_H
