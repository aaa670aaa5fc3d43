// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buckets: one for each kind of event, block size, sampling rate, skip and
// stack, with its counters. Found without a lock, inserted under one, never
// changed after they are published but for the counters, never freed.
// (Go: bucket, stkbucket)

#ifndef MPROF_RT_BUCKET_BUCKET_H
#define MPROF_RT_BUCKET_BUCKET_H

#include "sys/base.h"
#include "sys/lock.h"
#include "unwind/unwind_fp.h"

enum mprof_bucket_type { // (Go: bucketType)
  MPROF_BUCKET_MEM = 1,
  MPROF_BUCKET_BLOCK = 2,
  MPROF_BUCKET_MUTEX = 3,
  MPROF_BUCKET_THREAD = 4, // threads created; Go keeps them in its m
  MPROF_BUCKET_TRACE = 5,  // stacks of the execution trace; counts nothing
  MPROF_BUCKET_CUSTOM = 6, // values that the program has in its own profiles
  MPROF_BUCKET_TYPES
};

// Slots of the first table. (Go: buckHashSize)
#define MPROF_BUCK_HASH_SIZE 179999
// Logical frames that may be skipped at expansion. (Go: maxSkip)
#define MPROF_MAX_SKIP 6
// (Go: maxProfStackDepth)
#define MPROF_MAX_STACK_DEPTH 1024

// One cycle's counts. (Go: memRecordCycle)
struct mprof_mem_cycle {
  _Atomic uint64_t allocs, frees;
};

// Counters of a MEM bucket; counts.h says who counts where. own only grows and
// one thread writes it, future is atomic, a flush moves what both hold to
// active. (Go: memRecord)
struct mprof_mem_counts {
  struct mprof_mem_cycle own[3];    // written by the bucket's owner
  struct mprof_mem_cycle active;    // guarded by active_lock
  struct mprof_mem_cycle future[3]; // atomic; emptied under active_lock
  struct mprof_mem_cycle taken[3];  // of own and of cells; by active_lock
};

// Buckets with different locks that one stack may have; further ones share the
// bucket without a lock.
#define MPROF_LOCKS_PER_STACK 32u

// Counters of a BLOCK or MUTEX bucket, scaled when they are added, so that a
// later change of the rate changes nothing. All atomic. (Go: blockRecord)
struct mprof_wait_counts {
  _Atomic uint64_t count;  // events, in parts of 1 / MPROF_COUNT_ONE
  _Atomic uint64_t cycles; // ticks of clock.h
  _Atomic uint32_t locks;  // of a bucket without object: those with one
};
// Go's count is a double; whole parts of this size can be added without a lock.
#define MPROF_COUNT_ONE (UINT64_C(1) << 20)

// Counters of a THREAD bucket. Atomic.
struct mprof_thread_counts {
  _Atomic uint64_t created;
};

// Counters of a CUSTOM bucket.
struct mprof_custom_counts {
  uint64_t values; // guarded by its profile's lock
};

// What tells one bucket from another.
struct mprof_bucket_key {
  const mprof_pc *stack; // return addresses, leaf first
  uint32_t stack_len;
  uint8_t type;    // enum mprof_bucket_type
  uint8_t skip;    // 0..MPROF_MAX_SKIP
  uint8_t end;     // enum mprof_stack_end
  uint8_t kind;    // enum mprof_kind (contention.h); 0 unless BLOCK or MUTEX
  uint16_t labels; // of the thread (labels.h); 0 unless MEM, BLOCK or MUTEX
  union {
    size_t size;      // MEM: bytes; CUSTOM: its profile's number
    uintptr_t object; // BLOCK, MUTEX: the lock's address, or 0
  };
  uint64_t rate; // MEM: heap_rate when sampled, which the counts are scaled by
};

// layout: the counters of one thread in the first cache line, the seldom used
// ones of all in the second, then what lookups read, beside what flushes write.
struct mprof_bucket {
  union {
    struct mprof_mem_counts mem;
    struct mprof_wait_counts wait;
    struct mprof_thread_counts thread;
    struct mprof_custom_counts custom;
  };
  // Written once before the bucket is published, but for cells.
  uint64_t hash;
  union { // as in the key
    size_t size;
    uintptr_t object;
  };
  uint32_t rate;
  uint32_t stack_len;
  // MEM: handle of the other threads' counters, see counts.h. Atomic.
  _Atomic uint32_t cells;
  uint16_t owner; // MEM: the shard that counts in own
  uint8_t type;
  uint8_t skip;
  uint8_t end;
  uint8_t kind;
  uint16_t labels;
  // 0, or the number of the unload that took code of its stack away: no event
  // is counted here from then on. Written under modules_lock
  // (module_unloads.h).
  _Atomic uint32_t gone;
  struct mprof_bucket *allnext; // next older bucket of this type
  mprof_pc stack[];
};
_Static_assert(offsetof(struct mprof_bucket, mem.future) == 64,
               "own and active are a cache line");
_Static_assert(offsetof(struct mprof_bucket, owner) / 64 ==
                   offsetof(struct mprof_bucket, hash) / 64,
               "a free looks at one line");

// The hash of a stack and a size; its slot in the first table is
// hash % MPROF_BUCK_HASH_SIZE. (Go: stkbucket, "hash stack")
uint64_t mprof_bucket_hash(const mprof_pc *stack, size_t len, size_t size);

// The bucket of key, made if there is none and alloc is true. NULL if there is
// none, or no memory for one. Call with the guard set.
struct mprof_bucket *mprof_bucket_get(const struct mprof_bucket_key *key,
                                      bool alloc);
// Never one that is gone.
bool mprof_bucket_matches(const struct mprof_bucket *b,
                          const struct mprof_bucket_key *key);
static inline uint32_t mprof_bucket_gone(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->gone, memory_order_relaxed);
}
static inline bool
mprof_bucket_matches_but_stack(const struct mprof_bucket *b,
                               const struct mprof_bucket_key *key) {
  return b->size == key->size && b->rate == key->rate && b->type == key->type &&
         b->skip == key->skip && b->kind == key->kind &&
         b->labels == key->labels && mprof_bucket_gone(b) == 0;
}
// The newest bucket of a type, the others follow by allnext.
struct mprof_bucket *mprof_bucket_first(enum mprof_bucket_type type);
void mprof_bucket_reset(void);

extern struct mprof_lock mprof_insert_lock;

#endif // MPROF_RT_BUCKET_BUCKET_H
