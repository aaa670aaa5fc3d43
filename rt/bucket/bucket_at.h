// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event: unwinds the thread's stack from a given frame
// on, and looks up the bucket of this stack. Two caches in the thread's record
// make the lookup fast for repeated events.

#ifndef MPROF_RT_BUCKET_BUCKET_AT_H
#define MPROF_RT_BUCKET_BUCKET_AT_H

#include "bucket/bucket.h"
#include "bucket/known_stacks.h"
#include "sys/tls.h"
#include "thread/threads.h"

// Returns the bucket for the stack from `frame` on and for the properties in
// *key, or NULL if there is no memory. The caller sets all fields of *key
// except the stack, and key->cell to NULL. This function may write the stack to
// *key. Call with the recursion guard set.
// t: record of the calling thread. Its field `scratch` must not be NULL,
//   because the stack is written to this buffer.
// leaf: an address to insert before the stack; 0: none.
// frame: frame address of the runtime's function that the program has called.
// The stack begins with the caller of this function.
struct mprof_bucket *mprof_bucket_at(struct mprof_thread *t,
                                     struct mprof_bucket_key *key,
                                     mprof_pc leaf, uintptr_t frame);
// Returns the bucket of an allocation as mprof_bucket_at does. Searches first
// the stacks that have many sizes.
static inline struct mprof_bucket *
mprof_bucket_of_alloc(struct mprof_thread *t, struct mprof_bucket_key *key,
                      uintptr_t frame) {
  if (t->scratch->has_known) {
    struct mprof_bucket *b = mprof_known_stack_bucket(t, key, frame);
    if (mprof_likely(b != NULL)) {
      mprof_tls.is_foreign = false;
      return b;
    }
  }
  return mprof_bucket_at(t, key, 0, frame);
}

#endif // MPROF_RT_BUCKET_BUCKET_AT_H
