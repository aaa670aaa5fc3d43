// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's caches for stacks that have many buckets:
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
// the event has its stack, and the stack is not unwound. If sized[] does not
// have the bucket of the size, the table of all buckets (bucket.c) has it, or a
// new bucket gets the stack and the slots of the bucket in known[].

#include "bucket/known_stacks.h"

#include "bucket/counts.h"
#include "sys/assert.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "unwind/stack_slots.h"

// Returns the entry of known[] for the stack that begins at `frame`, on the
// thread's own stack.
static inline struct mprof_bucket **known_at(const struct mprof_thread *t,
                                             uintptr_t frame) {
  const mprof_pc pc = mprof_stack_return(frame + 8);
  const uint64_t h = (pc ^ frame << 20) * 0x9e3779b97f4a7c15u;
  return &t->scratch->known[(unsigned)(h >> 56) % MPROF_KNOWN];
}

// Returns the entry of sized[] for `key` and a bucket in known[] with the
// handle `known`. Returns NULL if the thread has no such cache.
static inline struct mprof_sized *sized_at(const struct mprof_scratch *s,
                                           const struct mprof_bucket_key *key,
                                           uint32_t known) {
  const uint64_t size = key->size + key->labels * 8191u;
  const uint64_t h = (size ^ (uint64_t)known << 32) * 0x9e3779b97f4a7c15u;
  return s->sized ? &s->sized[(h >> 48) % MPROF_SIZED] : NULL;
}

void mprof_known_stack_add(struct mprof_thread *t, struct mprof_bucket *b,
                           uintptr_t frame) {
  *known_at(t, frame) = b;
  t->scratch->has_known = true;
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
// if needed. e: the entry for this bucket in sized[], or NULL.
static MPROF_NOINLINE struct mprof_bucket *
find_like(struct mprof_scratch *s, struct mprof_bucket_key *key,
          struct mprof_bucket *like, struct mprof_sized *e) {
  const uint32_t known = mprof_persistent_handle(like);
  struct mprof_bucket *b = like;
  // The places of return addresses may be others in code that was loaded later.
  if (mprof_bucket_gone(like) != 0)
    return NULL;
  if (e && e->known == known)
    b = mprof_persistent_known(e->bucket);
  if (!mprof_bucket_matches_but_stack(b, key)) {
    const struct mprof_bucket_slots slots = mprof_bucket_slots(like);
    key->stack = like->stack;
    key->stack_len = like->stack_len;
    key->end = like->end;
    b = mprof_bucket_make(key, &slots);
    if (!e && ++s->known_events == MPROF_SIZED_FROM)
      s->sized = mprof_persistent_try_alloc(MPROF_SIZED * sizeof(s->sized[0]));
  }
  if (b && e) {
    if (e->known != known || mprof_persistent_known(e->bucket) != b)
      *e = (struct mprof_sized){.known = known,
                                .bucket = mprof_persistent_handle(b)};
    remember_cell(e, key, like, b);
  }
  return b;
}

struct mprof_bucket *mprof_known_stack_bucket(struct mprof_thread *t,
                                              struct mprof_bucket_key *key,
                                              uintptr_t frame) {
  MPROF_ASSERT(mprof_tls.guard != 0 && t->scratch);
  if (!mprof_stack_holds(&t->range, frame))
    return NULL;
  struct mprof_bucket *like = *known_at(t, frame);
  if (!like)
    return NULL;
  const struct mprof_bucket_slots slots = mprof_bucket_slots(like);
  if (!mprof_slots_match(&t->range, frame, like->stack,
                         like->stack_len + slots.roots_len, slots.codes))
    return NULL;
  const uint32_t known = mprof_persistent_handle(like);
  struct mprof_sized *e = sized_at(t->scratch, key, known);
  if (mprof_likely(e && e->known == known && has_cell(e, key, like)))
    return mprof_persistent_known(e->bucket);
  return find_like(t->scratch, key, like, e);
}
