// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event from the stack that begins at a given frame. The
// steps below are made in order, until a step finds the bucket:
//   1. Search recent[], the thread's cache of buckets by call site, frame
//      address and size. This step follows the frames and compares each return
//      address with the stack of the cached bucket. The step copies no stack.
//   2. If the cached bucket has slots (stack_slots.h), compare its return
//      addresses with those in the slots of the thread's stack. This step does
//      not unwind the stack either.
//      If the sizes differ, do the same with the stacks that the thread
//      remembers (known_stacks.h).
//   3. Unwind the stack into a buffer by frame pointers (unwind_fp.c). If step
//      1 has found a bucket whose return addresses all match, but the thread's
//      stack may be longer than the bucket's stack, unwind only the rest of the
//      stack.
//   4. Search same[], the thread's cache of buckets by whole stack and size.
//      The hash of same[] is weaker and faster than the hash of bucket.c.
//   5. Search the table of all buckets (bucket.c).
//   6. Unwind the stack by call frame information (unwind_cfi.c), and repeat
//      steps 4 and 5 for this stack. If no bucket exists, insert a new one.
// For an allocation, known_stacks.h is asked before step 1.
//
// Steps 1 and 3 may skip frames, because code without frame pointers may leave
// any frame address in the frame pointer register. Therefore steps 1 and 3 to 5
// find only buckets for which mprof_bucket_is_chain returns true: frame
// pointers are known to lead to all frames of the bucket's stack. Step 6
// records this if, for each return address, the unwind rule says that the code
// keeps a frame pointer. A later stack with the same chain of return addresses
// has the same code, so the chain skips no frame of the later stack either.
//
// If some code of a stack keeps no frame pointer, step 6 stores the slots of
// the stack in the new bucket, and later events need only step 2. Not every
// stack has slots: an example is a stack that passes a signal handler. Each
// event of such a stack needs step 6, which marks the stack in recent[], so
// that later events skip the steps 3 to 5. A stack that begins in
// uninstrumented code needs only the steps 2 and 6.
//
// The diagram shows the calls between files for one allocation. If step 6 is
// made, bucket.c may be called twice. Each other file is called only once,
// except the files in rt/sys:
//   entry_heap.c -> sample.c
//                -> the allocator
//                -> event.c -> known_stacks.c
//                           -> bucket_at.c -> unwind_fp.c
//                                          -> unwind_cfi.c
//                                          -> bucket.c
//                           -> livemap.c
//                           -> counts.c
// If known_stacks.c or recent[] already has the bucket, none of unwind_fp.c,
// unwind_cfi.c and bucket.c is called. A thread's first allocation also calls
// threads.c twice. sample.c calls threads.c to make the thread's record, and
// event.c calls threads.c to make the record's caches and buffers.

#include "bucket/bucket_at.h"

#include "bucket/bucket.h"
#include "bucket/known_stacks.h"
#include "sys/assert.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/stack_slots.h"
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

// Returns the bucket in recent[] for the stack that begins at `frame`, or NULL.
// The stack of this bucket may be another one. Returns NULL if the stack is not
// the thread's own.
static inline struct mprof_bucket *recent_at(const struct mprof_thread *t,
                                             const struct mprof_bucket_key *key,
                                             uintptr_t frame) {
  if (!mprof_stack_holds(&t->range, frame))
    return NULL;
  const mprof_pc pc = mprof_stack_return(frame + 8);
  return t->scratch->recent[recent_index(pc, frame, key)];
}

// Returns whether the frames from `frame` on have the return addresses of the
// bucket b, if frame pointers lead to all frames of b. Stores the address of
// the last compared frame in *last. The caller must check that the thread's
// stack ends at *last, because the thread's stack may be longer than the stack
// of b.
static inline bool is_chain_of(const struct mprof_thread *t,
                               const struct mprof_bucket_key *key,
                               mprof_pc leaf, uintptr_t frame,
                               const struct mprof_bucket *b, uintptr_t *last) {
  const size_t leaves = leaf != 0;
  const unsigned tells = mprof_bucket_tells(b);
  if (tells < MPROF_TELLS_CHAIN + leaves + 2 ||
      !mprof_bucket_matches_but_stack(b, key) ||
      (leaf != 0 && b->stack[0] != leaf))
    return false;
  *last = frame;
  return mprof_unwind_along(&t->range, last, b->stack + leaves,
                            tells - MPROF_TELLS_CHAIN - leaves);
}

// Returns whether the thread's stack is known to end at the frame at `last`,
// where the stack of b ends. This is known only if the thread's last complete
// stack ended at the same frame.
static inline bool ends_at_root(const struct mprof_scratch *s,
                                const struct mprof_bucket *b, uintptr_t last) {
  return last == s->root && *(const uintptr_t *)last == s->above_root &&
         b->end == MPROF_STACK_COMPLETE;
}

// Marks in recent[] a stack that must be unwound by call frame information for
// each event. The field `tells` of this bucket is 0, so no event is found to
// have its stack.
static struct mprof_bucket untold;

// Describes the stack in the thread's buffer t->scratch->stack.
struct found {
  size_t len;
  enum mprof_stack_end end;
  mprof_pc caller; // return address in the frame at `frame`; 0: unknown
  uintptr_t frame; // address of the stack's first frame
};

// Stores the stack f in *key.
static void set_stack(const struct mprof_thread *t,
                      struct mprof_bucket_key *key, const struct found *f) {
  key->stack = t->scratch->stack;
  key->stack_len = (uint32_t)f->len;
  key->end = (uint8_t)f->end;
}

// Returns the common bucket for the stack of *key. This bucket has 0 as its
// object and counts the events of all objects that have no bucket of their own.
// Returns NULL if the stack has no common bucket.
static struct mprof_bucket *without_object(const struct mprof_bucket_key *key) {
  struct mprof_bucket_key shared = *key;
  shared.object = 0;
  return mprof_bucket_get(&shared, false);
}

// Returns the bucket of *key if frame pointers are known to lead to all frames
// of the stack; otherwise NULL. If this is recorded only in the stack's common
// bucket (the bucket for object 0), inserts the bucket of *key if needed and
// records it there, too.
static struct mprof_bucket *find_chain(const struct mprof_bucket_key *key) {
  struct mprof_bucket *b = mprof_bucket_get(key, false);
  if (b && mprof_bucket_is_chain(b))
    return b;
  if (!mprof_bucket_is_of_object(key))
    return NULL;
  const struct mprof_bucket *any = without_object(key);
  if (!any || !mprof_bucket_is_chain(any))
    return NULL;
  b = mprof_bucket_make(key, NULL);
  if (b)
    mprof_bucket_set_chain(b);
  return b;
}

// Returns the bucket of the stack f, which was unwound by frame pointers. Adds
// the bucket to the caches recent[] and same[]. Returns NULL if no bucket shows
// that frame pointers lead to all frames of this stack, so that f may lack
// frames.
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

// Records that frame pointers lead to all frames of the stack f, in its bucket
// b and in the stack's common bucket. If the stack is complete,
// stores its last frame in s->root. leaves: number of addresses at the start of
// the stack that have no frame, 0 or 1.
static void note_chain(struct mprof_thread *t,
                       const struct mprof_bucket_key *key,
                       const struct found *f, size_t leaves,
                       struct mprof_bucket *b) {
  struct mprof_scratch *s = t->scratch;
  uintptr_t last = f->frame;
  mprof_bucket_set_chain(b);
  struct mprof_bucket *any =
      mprof_bucket_is_of_object(key) ? without_object(key) : NULL;
  if (any)
    mprof_bucket_set_chain(any);
  if (f->end == MPROF_STACK_COMPLETE && f->len > leaves &&
      mprof_unwind_along(&t->range, &last, s->stack + leaves,
                         f->len - leaves)) {
    s->root = last;
    s->above_root = *(const uintptr_t *)last;
  }
}

// Returns the bucket of *key, whose stack begins at `frame`, and inserts it if
// needed. leaves: number of addresses at the start of the stack that have no
// frame, 0 or 1. telling: see struct mprof_unwound; 0 if a new bucket is to
// have no slots.
static MPROF_NOINLINE struct mprof_bucket *
make(const struct mprof_thread *t, const struct mprof_bucket_key *key,
     uintptr_t frame, size_t leaves, size_t telling) {
  // The array is small, because the thread may have little stack memory. Slots
  // of a stack that needs more codes are not stored.
  enum { CODES_MAX = 288 };
  uint16_t codes[CODES_MAX];
  struct mprof_bucket_slots slots = {.roots = key->stack + key->stack_len,
                                     .codes = codes};
  if (telling != 0)
    slots.codes_len = (uint16_t)mprof_slots_record(
        &t->range, frame, key->stack + leaves, telling, codes, CODES_MAX);
  slots.roots_len =
      slots.codes_len == 0 ? 0 : (uint16_t)(leaves + telling - key->stack_len);
  const bool has_slots =
      slots.codes_len != 0 && slots.roots_len <= MPROF_ROOTS_MAX;
  const struct mprof_bucket_slots *s = has_slots ? &slots : NULL;
  return mprof_bucket_make(key, s);
}

// Unwinds the stack from `frame` on by call frame information, and returns the
// bucket of this stack. Adds the bucket to same[], and also to recent[] if a
// later event can be found to have this stack; otherwise adds
// &untold to recent[].
static MPROF_NOINLINE struct mprof_bucket *
find_by_tables(struct mprof_thread *t, struct mprof_bucket_key *key,
               mprof_pc leaf, uintptr_t frame) {
  struct mprof_scratch *s = t->scratch;
  const size_t leaves = leaf != 0;
  struct found f = {.frame = frame};
  struct mprof_unwound facts;
  if (leaf != 0)
    s->stack[0] = leaf;
  f.len = leaves + mprof_unwind_checked(&t->range, frame, s->stack + leaves,
                                        s->depth - leaves, &facts);
  f.end = facts.end;
  const bool is_own_stack = mprof_stack_holds(&t->range, frame);
  if (is_own_stack)
    f.caller = mprof_stack_return(frame + 8);
  else if (f.len > leaves)
    f.caller = s->stack[leaves];
  set_stack(t, key, &f);
  struct mprof_bucket **same = &s->same[same_index(key)], *b = *same;
  if (!b || !mprof_bucket_matches(b, key)) {
    const bool needs_slots =
        is_own_stack && !facts.is_chain && facts.telling > 1;
    b = needs_slots ? mprof_bucket_get(key, false) : NULL;
    if (!b)
      b = make(t, key, frame, leaves, needs_slots ? facts.telling : 0);
  }
  if (!b)
    return NULL;
  if (facts.is_chain)
    note_chain(t, key, &f, leaves, b);
  *same = b;
  const bool is_told =
      facts.is_chain || (is_own_stack && mprof_bucket_has_slots(b));
  s->recent[recent_index(f.caller, frame, key)] = is_told ? b : &untold;
  if (is_own_stack && leaves == 0 && mprof_bucket_has_slots(b))
    mprof_known_stack_add(t, b, frame);
  return b;
}

// Returns whether the slots of the bucket b tell that the stack from `frame` on
// is the stack of b. `frame` must lie on the thread's own stack.
static inline bool has_slots_of(const struct mprof_thread *t,
                                const struct mprof_bucket_key *key,
                                mprof_pc leaf, uintptr_t frame,
                                const struct mprof_bucket *b) {
  const size_t leaves = leaf != 0;
  if (!mprof_bucket_matches_but_stack(b, key) ||
      (leaf != 0 && b->stack[0] != leaf))
    return false;
  const struct mprof_bucket_slots slots = mprof_bucket_slots(b);
  return mprof_slots_match(&t->range, frame, b->stack + leaves,
                           b->stack_len - leaves + slots.roots_len,
                           slots.codes);
}

// Returns whether known_stacks.h is to be asked. mprof_bucket_of_alloc has done
// this for an allocation.
static inline bool may_be_known(const struct mprof_scratch *s,
                                const struct mprof_bucket_key *key,
                                mprof_pc leaf) {
  return s->has_known && leaf == 0 && key->type != MPROF_BUCKET_MEM;
}

// Returns the bucket of the stack from `frame` on, without the help of frame
// pointers.
static MPROF_NOINLINE struct mprof_bucket *
find_without_chain(struct mprof_thread *t, struct mprof_bucket_key *key,
                   mprof_pc leaf, uintptr_t frame) {
  struct mprof_bucket *known = may_be_known(t->scratch, key, leaf)
                                   ? mprof_known_stack_bucket(t, key, frame)
                                   : NULL;
  return known ? known : find_by_tables(t, key, leaf, frame);
}

// Returns the bucket of the stack from `frame` on, by its slots or by unwinding
// the stack. recent: result of recent_at.
static MPROF_NOINLINE struct mprof_bucket *
find_at(struct mprof_thread *t, struct mprof_bucket_key *key, mprof_pc leaf,
        uintptr_t frame, struct mprof_bucket *recent) {
  struct mprof_scratch *s = t->scratch;
  if (recent && !mprof_bucket_is_chain(recent)) {
    mprof_tls.is_foreign = false;
    if (mprof_bucket_has_slots(recent) &&
        has_slots_of(t, key, leaf, frame, recent))
      return recent;
    // The stack probably has code without frame pointers, too. This guess may
    // be wrong, because stacks with the same recent_index share an entry of
    // recent[].
    return find_without_chain(t, key, leaf, frame);
  }
  if (mprof_unlikely(mprof_tls.is_foreign)) {
    mprof_tls.is_foreign = false;
    return find_without_chain(t, key, leaf, frame);
  }
  if (may_be_known(s, key, leaf)) {
    struct mprof_bucket *known = mprof_known_stack_bucket(t, key, frame);
    if (known)
      return known;
  }
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

// Returns the bucket of a stack whose return addresses up to the frame at
// `last` are those of b. First unwinds the rest of the stack. If the stack ends
// at `last`, its bucket is b.
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
  MPROF_ASSERT(mprof_tls.guard != 0 && t->scratch);
  uintptr_t last;
  struct mprof_bucket *b = recent_at(t, key, frame);
  if (mprof_unlikely(!b || mprof_tls.is_foreign ||
                     !is_chain_of(t, key, leaf, frame, b, &last)))
    return find_at(t, key, leaf, frame, b);
  if (mprof_likely(ends_at_root(t->scratch, b, last)))
    return b;
  return finish_at(t, key, b, leaf, frame, last);
}
