// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event from the stack that begins at a given frame.
// Each thread has two caches of buckets:
//
//   call site and frame address
//     |
//     v
//   known[]   a bucket, whose slots tell where the return addresses are
//     |  and size or object
//     v
//   sized[]   the bucket of this stack and size, and the thread's cell in it
//
// If the return addresses in these places are those of the bucket in known[],
// the event has its stack, and the stack is not unwound (stack_slots.h). If
// sized[] does not have the bucket of the size, the table of all buckets
// (bucket.c) has it, or a new bucket gets the stack and the slots of the bucket
// in known[].
//
// Otherwise the stack is unwound by call frame information (unwind_cfi.c), and
// the table of all buckets has its bucket, or gets a new one. Not every stack
// has slots: an example is a stack that passes a signal handler. Each event of
// such a stack is unwound.

#include "bucket/bucket_at.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "sys/assert.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/stack_slots.h"
#include "unwind/unwind_cfi.h"

// Returns the entry of known[] for the stack that begins at `frame`, on the
// thread's own stack. The hash includes the frame address, because most call
// paths that lead to the same call site have different frame addresses.
static inline struct mprof_bucket **known_at(const struct mprof_thread *t,
                                             mprof_pc leaf, uintptr_t frame) {
  const mprof_pc pc = mprof_stack_return(frame + 8);
  const uint64_t h = (pc ^ frame << 20 ^ leaf << 8) * 0x9e3779b97f4a7c15u;
  return &t->scratch->known[(h >> 56) % MPROF_KNOWN];
}

// Returns the entry of sized[] for `key` and a bucket in known[] with the
// handle `known`.
static inline struct mprof_sized *sized_at(struct mprof_scratch *s,
                                           const struct mprof_bucket_key *key,
                                           uint32_t known) {
  const uint64_t size = key->size + key->labels * 8191u + key->type * 127u;
  const uint64_t h = (size ^ (uint64_t)known << 32) * 0x9e3779b97f4a7c15u;
  return &s->sized[(h >> 48) % MPROF_SIZED];
}

// Returns whether the stack that begins at `frame`, on the thread's own stack,
// with the address `leaf` before it, is that of the bucket b, which has slots.
static inline bool has_stack_of(const struct mprof_thread *t, mprof_pc leaf,
                                uintptr_t frame, const struct mprof_bucket *b) {
  const size_t leaves = leaf != 0;
  const struct mprof_bucket_slots slots = mprof_bucket_slots(b);
  if (leaf != 0 && b->stack[0] != leaf)
    return false;
  return mprof_slots_match(&t->range, frame, b->stack + leaves,
                           b->stack_len - leaves + slots.roots_len,
                           slots.codes);
}

// Returns whether the entry e, which is for the stack of `like`, has the
// thread's cell in the bucket of *key, and stores the cell in key->cell. Does
// not read the bucket, because its cache lines are far away if the program
// allocates blocks of many sizes.
static inline bool has_cell(const struct mprof_sized *e,
                            struct mprof_bucket_key *key,
                            const struct mprof_bucket *like) {
  if (e->cell == 0 || e->size != key->size ||
      !mprof_bucket_matches_but_size(like, key))
    return false;
  struct mprof_cell *cell = mprof_persistent_known(e->cell);
  // The entry may be that of an ended thread with another shard.
  if (mprof_unlikely(cell->shard != mprof_tls.shard))
    return false;
  key->cell = cell;
  return true;
}

// Stores in the entry e of the bucket b the thread's cell in b, if it has one.
static void remember_cell(struct mprof_sized *e,
                          const struct mprof_bucket_key *key,
                          const struct mprof_bucket *like,
                          struct mprof_bucket *b) {
  if (key->type != MPROF_BUCKET_MEM || key->size > UINT32_MAX ||
      !mprof_bucket_matches_but_size(like, key))
    return;
  const struct mprof_cell *cell = mprof_cell_here(b);
  if (cell->shard != mprof_tls.shard)
    return;
  e->size = (uint32_t)key->size;
  e->cell = mprof_persistent_handle(cell);
}

// Returns the bucket of *key, whose stack is that of `like`. Inserts the bucket
// if needed. e: the entry for this bucket in sized[].
static MPROF_NOINLINE struct mprof_bucket *
find_like(struct mprof_bucket_key *key, struct mprof_bucket *like,
          struct mprof_sized *e) {
  const uint32_t known = mprof_persistent_handle(like);
  struct mprof_bucket *b = like;
  // The places of return addresses may be others in code that was loaded later.
  if (mprof_bucket_gone(like) != 0)
    return NULL;
  if (e->known == known)
    b = mprof_persistent_known(e->bucket);
  if (!mprof_bucket_matches_but_stack(b, key)) {
    const struct mprof_bucket_slots slots = mprof_bucket_slots(like);
    key->stack = like->stack;
    key->stack_len = like->stack_len;
    key->end = like->end;
    b = mprof_bucket_make(key, &slots);
  }
  if (!b)
    return NULL;
  if (e->known != known || mprof_persistent_known(e->bucket) != b)
    *e = (struct mprof_sized){.known = known,
                              .bucket = mprof_persistent_handle(b)};
  remember_cell(e, key, like, b);
  return b;
}

// Returns the bucket of *key for the stack in t->scratch->stack, which begins
// at `frame`, and inserts it if needed. leaves: number of addresses at the
// start of the stack that have no frame, 0 or 1. telling: see struct
// mprof_unwound; 0 if a new bucket is to have no slots.
static struct mprof_bucket *make(const struct mprof_thread *t,
                                 const struct mprof_bucket_key *key,
                                 uintptr_t frame, size_t leaves,
                                 size_t telling) {
  // The array is small, because the thread may have little stack memory. Slots
  // of a stack that needs more codes are not stored.
  enum { CODES_MAX = 288 };
  uint16_t codes[CODES_MAX];
  struct mprof_bucket_slots slots = {.roots = key->stack + key->stack_len,
                                     .codes = codes};
  if (telling > 1)
    slots.codes_len = (uint16_t)mprof_slots_record(
        &t->range, frame, key->stack + leaves, telling, codes, CODES_MAX);
  if (slots.codes_len != 0)
    slots.roots_len = (uint16_t)(leaves + telling - key->stack_len);
  const bool has_slots =
      slots.codes_len != 0 && slots.roots_len <= MPROF_ROOTS_MAX;
  return mprof_bucket_make(key, has_slots ? &slots : NULL);
}

// Unwinds the stack from `frame` on by call frame information, and returns the
// bucket of this stack. Remembers the stack if its bucket has slots.
static MPROF_NOINLINE struct mprof_bucket *
find_by_tables(struct mprof_thread *t, struct mprof_bucket_key *key,
               mprof_pc leaf, uintptr_t frame) {
  struct mprof_scratch *s = t->scratch;
  const size_t leaves = leaf != 0;
  struct mprof_unwound facts;
  if (leaf != 0)
    s->stack[0] = leaf;
  key->stack = s->stack;
  key->stack_len = (uint32_t)(leaves + mprof_unwind_checked(
                                           &t->range, frame, s->stack + leaves,
                                           s->depth - leaves, &facts));
  key->end = (uint8_t)facts.end;
  const bool is_own_stack = mprof_stack_holds(&t->range, frame);
  struct mprof_bucket *b = mprof_bucket_get(key, false);
  if (!b)
    b = make(t, key, frame, leaves, is_own_stack ? facts.telling : 0);
  if (b && is_own_stack && mprof_bucket_has_slots(b))
    *known_at(t, leaf, frame) = b;
  return b;
}

struct mprof_bucket *mprof_bucket_at(struct mprof_thread *t,
                                     struct mprof_bucket_key *key,
                                     mprof_pc leaf, uintptr_t frame) {
  MPROF_ASSERT(mprof_tls.guard != 0 && t->scratch);
  if (mprof_unlikely(!mprof_stack_holds(&t->range, frame)))
    return find_by_tables(t, key, leaf, frame);
  struct mprof_bucket *like = *known_at(t, leaf, frame);
  if (mprof_unlikely(!like || !has_stack_of(t, leaf, frame, like)))
    return find_by_tables(t, key, leaf, frame);
  const uint32_t known = mprof_persistent_handle(like);
  struct mprof_sized *e = sized_at(t->scratch, key, known);
  if (mprof_likely(e->known == known && has_cell(e, key, like)))
    return mprof_persistent_known(e->bucket);
  struct mprof_bucket *b = find_like(key, like, e);
  return b ? b : find_by_tables(t, key, leaf, frame);
}
