// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event from the stack that begins at a given frame. The
// steps below are made in order, until a step finds the bucket:
//   1. Search recent[], the thread's cache of buckets by call site, frame
//      address and size. This step follows the frames and compares each return
//      address with the stack of the cached bucket. The step copies no stack.
//   2. Unwind the stack into a buffer, with unwind_cfi.c if the stack begins in
//      uninstrumented code, and with unwind_fp.c otherwise. If step 1 has found
//      a bucket whose return addresses all match, but the thread's stack may be
//      longer than the bucket's stack, unwind only the rest of the stack.
//   3. Search same[], the thread's cache of buckets by whole stack and size.
//      The hash of same[] is weaker and faster than the hash of bucket.c.
//   4. Search the table of all buckets (bucket.c).
//
// The diagram shows the calls between files for one allocation. Each file is
// called only once, except the files in rt/sys:
//   entry_heap.c -> sample.c
//                -> the allocator
//                -> event.c -> bucket_at.c -> unwind_fp.c
//                                          -> bucket.c
//                           -> livemap.c
// If recent[] already has the bucket, neither unwind_fp.c nor bucket.c is
// called. A thread's first allocation also calls threads.c twice. sample.c
// calls threads.c to make the thread's record, and event.c calls threads.c to
// make the record's caches and buffers.

#include "bucket/bucket_at.h"

#include "bucket/bucket.h"
#include "sys/assert.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_fp.h"

#include <string.h>

// Returns the index in recent[] for the call site pc and the frame address fp.
// The hash includes fp, because most call paths that lead to the same call site
// have different frame addresses.
static unsigned recent_index(mprof_pc pc, uintptr_t fp,
                             const struct mprof_bucket_key *key) {
  uint64_t h =
      (pc ^ fp << 20) * 0x9e3779b97f4a7c15u + key->size + key->labels * 8191u;
  return (unsigned)((h * 0xbf58476d1ce4e5b9u) >> 56) % MPROF_RECENT;
}

// Returns the index in same[] for `key`. The hash is weaker than
// mprof_bucket_hash, but faster.
static unsigned same_index(const struct mprof_bucket_key *key) {
  uint64_t h = key->size + key->type + key->labels * 8191u;
  for (uint32_t i = 0; i < key->stack_len; i++)
    h = (h << 7 | h >> 57) ^ key->stack[i];
  return (unsigned)((h * 0x9e3779b97f4a7c15u) >> 56) % MPROF_RECENT;
}

// Searches recent[] for a bucket whose return addresses are the same as those
// of the frames from `frame` on. Returns the bucket, or NULL. Stores the
// address of the last compared frame in *last. The thread's stack may be longer
// than the bucket's stack, so the caller must check that the thread's stack
// ends at *last.
static inline struct mprof_bucket *recent_at(const struct mprof_thread *t,
                                             const struct mprof_bucket_key *key,
                                             mprof_pc leaf, uintptr_t frame,
                                             uintptr_t *last) {
  const size_t leaves = leaf != 0;
  const struct mprof_scratch *s = t->scratch;
  if (frame < t->range.lo || frame > t->range.hi - 16)
    return NULL;
  const mprof_pc pc = ((const mprof_pc *)frame)[1];
  struct mprof_bucket *b = s->recent[recent_index(pc, frame, key)];
  if (!b || b->stack_len < leaves + 2 ||
      !mprof_bucket_matches_but_stack(b, key) ||
      (leaf != 0 && b->stack[0] != leaf))
    return NULL;
  *last = frame;
  return mprof_unwind_along(&t->range, last, b->stack + leaves,
                            b->stack_len - leaves)
             ? b
             : NULL;
}

// Returns whether the thread's stack is known to end at the frame at `last`,
// where the stack of b ends. This is known only if the thread's last complete
// stack ended at the same frame.
static inline bool ends_at_root(const struct mprof_scratch *s,
                                const struct mprof_bucket *b, uintptr_t last) {
  return last == s->root && *(const uintptr_t *)last == s->above_root &&
         b->end == MPROF_STACK_COMPLETE;
}

// Returns the bucket of the stack in the scratch buffer s->stack, which has len
// return addresses. Adds the bucket to the caches recent[] and same[].
__attribute__((always_inline)) static inline struct mprof_bucket *
of_stack(struct mprof_thread *t, struct mprof_bucket_key *key, size_t len,
         enum mprof_stack_end end, mprof_pc caller, uintptr_t frame) {
  struct mprof_scratch *s = t->scratch;
  key->stack = s->stack;
  key->stack_len = (uint32_t)len;
  key->end = (uint8_t)end;
  struct mprof_bucket **same = &s->same[same_index(key)], *b = *same;
  if (!b || !mprof_bucket_matches(b, key)) {
    if (key->type == MPROF_BUCKET_MEM || key->object == 0)
      b = mprof_bucket_get(key, true);
    else
      b = mprof_bucket_get_limited(key);
  }
  if (b)
    *same = s->recent[recent_index(caller, frame, key)] = b;
  return b;
}

// Unwinds the stack from `frame` on and returns the bucket of this stack.
static MPROF_NOINLINE struct mprof_bucket *find_at(struct mprof_thread *t,
                                                   struct mprof_bucket_key *key,
                                                   mprof_pc leaf,
                                                   uintptr_t frame) {
  struct mprof_scratch *s = t->scratch;
  enum mprof_stack_end end;
  mprof_pc *stack = s->stack;
  size_t depth = s->depth;
  if (leaf != 0) {
    *stack++ = leaf;
    depth--;
  }
  size_t n;
  if (mprof_unlikely(mprof_tls.is_foreign)) {
    mprof_tls.is_foreign = false;
    n = mprof_unwind_cfi(&t->range, frame, stack, depth, &end);
  } else {
    n = mprof_unwind(&t->range, frame, stack, depth, &end);
  }
  return of_stack(t, key, n + (size_t)(stack - s->stack), end, n ? stack[0] : 0,
                  frame);
}

// Returns the bucket of a stack whose return addresses up to the frame at
// `last` are those of b. First unwinds the rest of the stack. If the stack ends
// at `last`, its bucket is b.
static MPROF_NOINLINE struct mprof_bucket *
finish_at(struct mprof_thread *t, struct mprof_bucket_key *key,
          struct mprof_bucket *b, bool has_leaf, uintptr_t frame,
          uintptr_t last) {
  struct mprof_scratch *s = t->scratch;
  const size_t known = b->stack_len - 1;
  enum mprof_stack_end end;
  size_t n = mprof_unwind_rest(&t->range, last, s->stack + known,
                               known - has_leaf, s->depth - known, &end);
  if (n == 1 && end == b->end) {
    if (end == MPROF_STACK_COMPLETE) {
      s->root = last;
      s->above_root = *(const uintptr_t *)last;
    }
    return b;
  }
  memcpy(s->stack, b->stack, known * sizeof(s->stack[0]));
  return of_stack(t, key, known + n, end, s->stack[has_leaf], frame);
}

struct mprof_bucket *mprof_bucket_at(struct mprof_thread *t,
                                     struct mprof_bucket_key *key,
                                     mprof_pc leaf, uintptr_t frame) {
  MPROF_ASSERT(mprof_tls.guarded && t->scratch);
  uintptr_t last;
  struct mprof_bucket *b = mprof_likely(!mprof_tls.is_foreign)
                               ? recent_at(t, key, leaf, frame, &last)
                               : NULL;
  if (mprof_unlikely(b == NULL))
    return find_at(t, key, leaf, frame);
  if (mprof_likely(ends_at_root(t->scratch, b, last)))
    return b;
  return finish_at(t, key, b, leaf != 0, frame, last);
}
