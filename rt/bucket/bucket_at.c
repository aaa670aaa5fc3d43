// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event at a frame: unwinding and lookup interleaved.
// A repeated event finds its bucket in one of the thread's two caches:
//   recent[]  by call site, caller's frame and size. The cached bucket's stack
//             is compared with the frames while following them, so no stack is
//             written.
//   same[]    by the whole stack and size, after the stack was written. Its
//             hash is weaker and faster than the bucket table's.
// Only if both miss is the bucket table searched.

#include "bucket/bucket_at.h"

#include "bucket/bucket.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_fp.h"

// Returns the index in recent[]. The caller's frame address distinguishes most
// paths to one call site.
static unsigned recent_index(mprof_pc pc, uintptr_t fp,
                             const struct mprof_bucket_key *key) {
  uint64_t h =
      (pc ^ fp << 20) * 0x9e3779b97f4a7c15u + key->size + key->labels * 8191u;
  return (unsigned)((h * 0xbf58476d1ce4e5b9u) >> 56) % MPROF_RECENT;
}

static unsigned same_index(const struct mprof_bucket_key *key) {
  uint64_t h = key->size + key->type + key->labels * 8191u;
  for (uint32_t i = 0; i < key->stack_len; i++)
    h = (h << 7 | h >> 57) ^ key->stack[i];
  return (unsigned)((h * 0x9e3779b97f4a7c15u) >> 56) % MPROF_RECENT;
}

// Returns the bucket of key, with a limit on buckets per stack. A stack that
// waits for many locks would need one bucket for each lock. Beyond
// MPROF_LOCKS_PER_STACK, further locks share the stack's bucket without a lock.
static MPROF_NOINLINE struct mprof_bucket *
get_bounded(const struct mprof_bucket_key *key) {
  struct mprof_bucket *b = mprof_bucket_get(key, false);
  if (b)
    return b;
  if (key->type == MPROF_BUCKET_CUSTOM) // object holds a profile's number
    return mprof_bucket_get(key, true);
  struct mprof_bucket_key shared = *key;
  shared.object = 0;
  struct mprof_bucket *any = mprof_bucket_get(&shared, true);
  if (!any ||
      atomic_fetch_add_explicit(&any->wait.locks, 1, memory_order_relaxed) >=
          MPROF_LOCKS_PER_STACK) {
    if (any)
      atomic_store_explicit(&any->wait.locks, MPROF_LOCKS_PER_STACK,
                            memory_order_relaxed);
    return any;
  }
  b = mprof_bucket_get(key, true);
  return b ? b : any;
}

// Returns whether the stack ends at the frame fp, and for the same reason as
// the stack of b. depth is the number of frames left to the depth limit.
static bool ends_as(struct mprof_thread *t, const struct mprof_bucket *b,
                    uintptr_t fp, size_t depth) {
  struct mprof_scratch *s = t->scratch;
  const uintptr_t next = *(const uintptr_t *)fp;
  if (mprof_likely(fp == s->root && next == s->above_root))
    return b->end == MPROF_STACK_COMPLETE;
  mprof_pc last[2];
  enum mprof_stack_end end;
  if (mprof_unwind(&t->range, fp, last, depth < 2 ? depth : 2, &end) != 1 ||
      end != b->end)
    return false;
  if (end == MPROF_STACK_COMPLETE) {
    s->root = fp;
    s->above_root = next;
  }
  return true;
}

// Returns the bucket in recent[] if its stack is the stack at frame, else NULL.
// Follows the frames along the bucket's stack and writes nothing.
static struct mprof_bucket *recent_at(struct mprof_thread *t,
                                      const struct mprof_bucket_key *key,
                                      mprof_pc leaf, uintptr_t frame) {
  const size_t leaves = leaf != 0;
  struct mprof_scratch *s = t->scratch;
  if (frame < t->range.lo || frame > t->range.hi - 16)
    return NULL;
  const mprof_pc pc = ((const mprof_pc *)frame)[1];
  struct mprof_bucket *b = s->recent[recent_index(pc, frame, key)];
  if (!b || b->stack_len < leaves + 2 ||
      !mprof_bucket_matches_but_stack(b, key) ||
      (leaf != 0 && b->stack[0] != leaf))
    return NULL;
  const size_t n = b->stack_len - leaves;
  if (!mprof_unwind_along(&t->range, &frame, b->stack + leaves, n) ||
      !ends_as(t, b, frame, s->depth - leaves - n + 1))
    return NULL;
  return b;
}

// Writes the stack to the scratch buffer, then looks for its bucket.
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
  key->stack = s->stack;
  key->stack_len = (uint32_t)(n + (size_t)(stack - s->stack));
  key->end = (uint8_t)end;
  struct mprof_bucket **same = &s->same[same_index(key)], *b = *same;
  if (!b || !mprof_bucket_matches(b, key)) {
    if (key->type == MPROF_BUCKET_MEM || key->object == 0)
      b = mprof_bucket_get(key, true);
    else
      b = get_bounded(key);
  }
  if (b)
    *same = s->recent[recent_index(n ? stack[0] : 0, frame, key)] = b;
  return b;
}

struct mprof_bucket *mprof_bucket_at(struct mprof_thread *t,
                                     struct mprof_bucket_key *key,
                                     mprof_pc leaf, uintptr_t frame) {
  struct mprof_bucket *recent = mprof_likely(!mprof_tls.is_foreign)
                                    ? recent_at(t, key, leaf, frame)
                                    : NULL;
  return mprof_likely(recent != NULL) ? recent : find_at(t, key, leaf, frame);
}
