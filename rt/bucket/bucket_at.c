// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event at a frame, in these steps. A step is taken only
// if the earlier steps did not find the bucket:
//   1. Search recent[], the thread's cache of buckets by call site, caller's
//      frame and size. This step follows the frames and compares each return
//      address with the stack of the cached bucket. It writes no stack.
//   2. Unwind the stack into a buffer by frame pointers (unwind_fp.c). If step
//      1 has found that the frames agree with a bucket's stack, but not that
//      the stack ends there, this step unwinds only the rest.
//   3. Search same[], the thread's cache of buckets by the whole stack and the
//      size. Its hash is weaker and faster than the hash of bucket.c.
//   4. Search the table of all buckets: bucket.c.
//   5. Unwind the stack by call frame information (unwind_cfi.c), and repeat
//      steps 3 and 4 for this stack. This step makes the bucket if there is
//      none.
// Code without frame pointers may leave any frame address in the register, so
// steps 1 and 2 may skip frames. Therefore steps 1 to 4 find only buckets with
// is_chain. Step 5 sets is_chain if the rules of all return addresses say that
// the code keeps a frame pointer. Another stack with the same chain of return
// addresses has the same code, so it has no other frames. A stack with other
// code takes step 5 at each event. recent[] notes this, so that steps 2 to 4
// are skipped. They are also skipped for stacks that begin in uninstrumented
// code.
// The calls for an allocation go in one direction:
//   entry_heap.c -> sample.c
//                -> the allocator
//                -> event.c -> bucket_at.c -> unwind_fp.c
//                                          -> unwind_cfi.c
//                                          -> bucket.c
//                           -> livemap.c
// A repeated allocation in instrumented code calls none of unwind_fp.c,
// unwind_cfi.c and bucket.c.
// A thread's first allocation also calls threads.c twice: sample.c calls it to
// make the thread's record, and event.c calls it to make the record's caches
// and buffers.

#include "bucket/bucket_at.h"

#include "bucket/bucket.h"
#include "sys/assert.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_fp.h"

#include <string.h>

// Returns the index in recent[] for a call site pc. fp is the caller's frame
// address: it distinguishes most paths that lead to the same call site.
static unsigned recent_index(mprof_pc pc, uintptr_t fp,
                             const struct mprof_bucket_key *key) {
  uint64_t h =
      (pc ^ fp << 20) * 0x9e3779b97f4a7c15u + key->size + key->labels * 8191u;
  return (unsigned)((h * 0xbf58476d1ce4e5b9u) >> 56) % MPROF_RECENT;
}

// Returns the index of a key in same[]. This hash is weaker and faster than
// mprof_bucket_hash.
static unsigned same_index(const struct mprof_bucket_key *key) {
  uint64_t h = key->size + key->type + key->labels * 8191u;
  for (uint32_t i = 0; i < key->stack_len; i++)
    h = (h << 7 | h >> 57) ^ key->stack[i];
  return (unsigned)((h * 0x9e3779b97f4a7c15u) >> 56) % MPROF_RECENT;
}

// Returns the cached bucket in recent[] if its return addresses agree with the
// frames from frame on; otherwise NULL. Stores in *last the address of the last
// compared frame. The stack at frame may be longer than the bucket's stack, so
// the caller must check that it ends at *last.
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

// Returns whether the stack of b is known to end at its last frame, whose
// address is last. It is known if the thread's last complete stack ended at
// this frame, too.
static inline bool ends_at_root(const struct mprof_scratch *s,
                                const struct mprof_bucket *b, uintptr_t last) {
  return last == s->root && *(const uintptr_t *)last == s->above_root &&
         b->end == MPROF_STACK_COMPLETE;
}

// Stands in recent[] for a stack that frame pointers do not lead through. It is
// never the bucket of an event.
static struct mprof_bucket not_a_chain;

// A stack in the scratch buffer.
struct found {
  size_t len;
  enum mprof_stack_end end;
  mprof_pc caller; // return address of the frame `frame`; 0: unknown
  uintptr_t frame;
};

static void set_stack(const struct mprof_thread *t,
                      struct mprof_bucket_key *key, const struct found *f) {
  key->stack = t->scratch->stack;
  key->stack_len = (uint32_t)f->len;
  key->end = (uint8_t)f->end;
}

// Returns whether the number of buckets per stack is limited.
static bool is_limited(const struct mprof_bucket_key *key) {
  return key->type != MPROF_BUCKET_MEM && key->object != 0;
}

// Returns the bucket with object 0 and the stack of *key, or NULL.
static struct mprof_bucket *without_object(const struct mprof_bucket_key *key) {
  struct mprof_bucket_key shared = *key;
  shared.object = 0;
  return key->type == MPROF_BUCKET_CUSTOM ? NULL
                                          : mprof_bucket_get(&shared, false);
}

static void set_chain(struct mprof_bucket *b) {
  atomic_store_explicit(&b->is_chain, true, memory_order_relaxed);
}

// Returns the bucket of *key if its stack is known to be a chain; otherwise
// NULL.
static struct mprof_bucket *find_chain(const struct mprof_bucket_key *key) {
  struct mprof_bucket *b = mprof_bucket_get(key, false);
  if (b && mprof_bucket_is_chain(b))
    return b;
  if (!is_limited(key))
    return NULL;
  const struct mprof_bucket *any = without_object(key);
  if (!any || !mprof_bucket_is_chain(any))
    return NULL;
  b = mprof_bucket_get_limited(key);
  if (b)
    set_chain(b);
  return b;
}

// Returns the bucket of the stack f, which frame pointers have led to. Returns
// NULL if no bucket confirms that frame pointers lead to all frames of this
// stack. The chain may have skipped frames then.
__attribute__((always_inline)) static inline struct mprof_bucket *
known_chain(struct mprof_thread *t, struct mprof_bucket_key *key,
            const struct found *f) {
  struct mprof_scratch *s = t->scratch;
  set_stack(t, key, f);
  struct mprof_bucket **same = &s->same[same_index(key)], *b = *same;
  if (!b || !mprof_bucket_matches(b, key) || !mprof_bucket_is_chain(b))
    b = find_chain(key);
  if (b)
    *same = s->recent[recent_index(f->caller, f->frame, key)] = b;
  return b;
}

static bool is_own(const struct mprof_thread *t, uintptr_t frame) {
  return frame >= t->range.lo && frame <= t->range.hi - 16;
}

// Remembers the stack f, which is a chain: sets is_chain in its bucket b and in
// the stack's bucket with object 0, and remembers where the stack ends.
static void note_chain(struct mprof_thread *t,
                       const struct mprof_bucket_key *key,
                       const struct found *f, size_t leaves,
                       struct mprof_bucket *b) {
  struct mprof_scratch *s = t->scratch;
  uintptr_t last = f->frame;
  set_chain(b);
  struct mprof_bucket *any = is_limited(key) ? without_object(key) : NULL;
  if (any)
    set_chain(any);
  if (f->end == MPROF_STACK_COMPLETE && f->len > leaves &&
      mprof_unwind_along(&t->range, &last, s->stack + leaves,
                         f->len - leaves)) {
    s->root = last;
    s->above_root = *(const uintptr_t *)last;
  }
}

// Unwinds the stack at frame by call frame information and returns the bucket
// of this stack.
static MPROF_NOINLINE struct mprof_bucket *
find_by_tables(struct mprof_thread *t, struct mprof_bucket_key *key,
               mprof_pc leaf, uintptr_t frame) {
  struct mprof_scratch *s = t->scratch;
  const size_t leaves = leaf != 0;
  struct found f = {.frame = frame};
  bool is_chain;
  if (leaf != 0)
    s->stack[0] = leaf;
  f.len = leaves + mprof_unwind_checked(&t->range, frame, s->stack + leaves,
                                        s->depth - leaves, &f.end, &is_chain);
  if (is_own(t, frame))
    f.caller = ((const mprof_pc *)frame)[1];
  else if (f.len > leaves)
    f.caller = s->stack[leaves];
  set_stack(t, key, &f);
  struct mprof_bucket **same = &s->same[same_index(key)], *b = *same;
  if (!b || !mprof_bucket_matches(b, key))
    b = is_limited(key) ? mprof_bucket_get_limited(key)
                        : mprof_bucket_get(key, true);
  if (!b)
    return NULL;
  if (is_chain)
    note_chain(t, key, &f, leaves, b);
  *same = b;
  s->recent[recent_index(f.caller, frame, key)] = is_chain ? b : &not_a_chain;
  return b;
}

// Returns whether frame pointers probably do not lead through the stack at
// frame.
static bool needs_tables(const struct mprof_thread *t,
                         const struct mprof_bucket_key *key, uintptr_t frame) {
  return is_own(t, frame) &&
         t->scratch->recent[recent_index(((const mprof_pc *)frame)[1], frame,
                                         key)] == &not_a_chain;
}

// Unwinds the stack at frame and returns the bucket of this stack.
static MPROF_NOINLINE struct mprof_bucket *find_at(struct mprof_thread *t,
                                                   struct mprof_bucket_key *key,
                                                   mprof_pc leaf,
                                                   uintptr_t frame) {
  struct mprof_scratch *s = t->scratch;
  if (mprof_unlikely(mprof_tls.is_foreign)) {
    mprof_tls.is_foreign = false;
    return find_by_tables(t, key, leaf, frame);
  }
  if (needs_tables(t, key, frame))
    return find_by_tables(t, key, leaf, frame);
  const size_t leaves = leaf != 0;
  struct found f = {.frame = frame};
  if (leaf != 0)
    s->stack[0] = leaf;
  const size_t n = mprof_unwind(&t->range, frame, s->stack + leaves,
                                s->depth - leaves, &f.end);
  f.len = n + leaves;
  f.caller = n ? s->stack[leaves] : 0;
  struct mprof_bucket *b = known_chain(t, key, &f);
  return b ? b : find_by_tables(t, key, leaf, frame);
}

// Returns the bucket of a stack that agrees with the stack of b up to the frame
// at last. Unwinds the rest of the stack. If there is no further frame, the
// bucket is b.
static MPROF_NOINLINE struct mprof_bucket *
finish_at(struct mprof_thread *t, struct mprof_bucket_key *key,
          struct mprof_bucket *b, mprof_pc leaf, uintptr_t frame,
          uintptr_t last) {
  struct mprof_scratch *s = t->scratch;
  const bool has_leaf = leaf != 0;
  const size_t known = b->stack_len - 1u;
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
  const struct found f = {known + n, end, s->stack[has_leaf], frame};
  b = known_chain(t, key, &f);
  return b ? b : find_by_tables(t, key, leaf, frame);
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
  return finish_at(t, key, b, leaf, frame, last);
}
