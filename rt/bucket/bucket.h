// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bucket holds the counters of one stack. Each combination of event type,
// block size or lock, sampling rate, skip, labels and stack has its own bucket.
// Lookups take no lock, insertions hold insert_lock. After a bucket is
// published, only its counters and the fields is_chain, cells and gone change.
// Buckets are never freed.
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
  MPROF_BUCKET_THREAD = 4, // created threads; Go records them in its struct m
  MPROF_BUCKET_TRACE = 5,  // stacks of the execution trace; no counters
  MPROF_BUCKET_CUSTOM = 6, // values in the program's own profiles
  MPROF_BUCKET_TYPES
};

// Number of slots of the first table. (Go: buckHashSize)
#define MPROF_BUCK_HASH_SIZE 179999
// Maximum number of functions, inlined ones included, that the writer of a
// profile drops at the leaf of a stack. (Go: maxSkip)
#define MPROF_MAX_SKIP 6
// Maximum number of return addresses in a stack. (Go: maxProfStackDepth)
#define MPROF_MAX_STACK_DEPTH 1024

// The counts of one cycle (cycle.h). (Go: memRecordCycle)
struct mprof_mem_cycle {
  _Atomic uint64_t allocs, frees;
};

// Counters of a MEM bucket; counts.h explains which thread uses which counters.
// The counters in own only grow, and only the owner's thread writes them. A
// flush adds the new events of own and future to active. (Go: memRecord)
struct mprof_mem_counts {
  struct mprof_mem_cycle own[3];    // written by the bucket's owner
  struct mprof_mem_cycle active;    // guarded by active_lock
  struct mprof_mem_cycle future[3]; // atomic; emptied under active_lock
  struct mprof_mem_cycle taken[3];  // part of own and cells that is in active;
                                    // guarded by active_lock
};

// Maximum number of locks for which one stack has a separate bucket each. All
// further locks are counted in the stack's bucket with object 0.
#define MPROF_LOCKS_PER_STACK 32u

// Counters of a BLOCK or MUTEX bucket. Values are scaled when they are added,
// so a later change of the rate does not affect them. All fields are atomic.
// (Go: blockRecord)
struct mprof_wait_counts {
  _Atomic uint64_t count;  // number of events * MPROF_COUNT_ONE
  _Atomic uint64_t cycles; // ticks of clock.h
  _Atomic uint32_t locks;  // if object is 0: locks with a separate bucket
};
// The value of count that stands for one event. Go's count is a double. Here it
// is a fixed-point number, which threads can add to without a lock.
#define MPROF_COUNT_ONE (UINT64_C(1) << 20)

// Counters of a THREAD bucket. Atomic.
struct mprof_thread_counts {
  _Atomic uint64_t created;
};

// Counters of a CUSTOM bucket.
struct mprof_custom_counts {
  uint64_t values; // guarded by its profile's lock
};

// The properties that distinguish buckets.
struct mprof_bucket_key {
  const mprof_pc *stack; // return addresses, leaf first
  uint32_t stack_len;
  uint8_t type;    // enum mprof_bucket_type
  uint8_t skip;    // 0..MPROF_MAX_SKIP
  uint8_t end;     // enum mprof_stack_end
  uint8_t kind;    // enum mprof_kind (block_kinds.h); 0 unless BLOCK or MUTEX
  uint16_t labels; // thread's labels (labels.h); 0 unless MEM, BLOCK or MUTEX
  union {
    size_t size;      // MEM: bytes; CUSTOM: mprof_custom_profile_key
    uintptr_t object; // BLOCK, MUTEX: the lock's address, or 0
  };
  uint64_t rate; // MEM: heap_rate of the sample; readers scale the counts by it
};

// Layout in memory: the first cache line has the owner's counters (own) and
// active. The second line begins with the counters that all threads share
// (future), which are rarely used. The fields that flushes write (taken) and
// the fields that lookups read come next.
struct mprof_bucket {
  union {
    struct mprof_mem_counts mem;
    struct mprof_wait_counts wait;
    struct mprof_thread_counts thread;
    struct mprof_custom_counts custom;
  };
  // All fields from here on, except is_chain, cells and gone, are written once,
  // before the bucket is published.
  uint64_t hash;
  union { // as in the key
    size_t size;
    uintptr_t object;
  };
  uint32_t rate;
  uint16_t stack_len;
  // Whether the chain of frame pointers is known to have all of the stack's
  // frames (mprof_unwind_checked). Set after the bucket is published; never
  // cleared.
  atomic_bool is_chain;
  // MEM: handle of the other threads' counters (counts.h). Atomic.
  _Atomic uint32_t cells;
  uint16_t owner; // MEM: the shard that counts in own
  uint8_t type;
  uint8_t skip;
  uint8_t end;
  uint8_t kind;
  uint16_t labels;
  // Number of the unload of a module (module_unloads.h) that removed code in
  // the stack; 0: no such unload. If the number is not 0, the bucket counts no
  // further events. Written under modules_lock.
  _Atomic uint32_t gone;
  struct mprof_bucket *allnext; // next older bucket of this type
  mprof_pc stack[];
};
_Static_assert(offsetof(struct mprof_bucket, mem.future) == 64,
               "own and active are a cache line");
_Static_assert(offsetof(struct mprof_bucket, owner) / 64 ==
                   offsetof(struct mprof_bucket, hash) / 64,
               "a free looks at one line");

// Returns the hash of a stack and a size. In the first table, the search for a
// bucket begins at slot hash % MPROF_BUCK_HASH_SIZE.
// (Go: stkbucket, "hash stack")
uint64_t mprof_bucket_hash(const mprof_pc *stack, size_t len, size_t size);

// Returns the bucket of key. If there is no such bucket: makes one if alloc is
// true, and returns NULL if alloc is false or there is no memory. Call with the
// guard set.
struct mprof_bucket *mprof_bucket_get(const struct mprof_bucket_key *key,
                                      bool alloc);
// Returns the bucket of key and makes it if needed, but limits the number of
// buckets per stack: a stack that waits for many locks would otherwise need one
// bucket for each lock. If the stack already has buckets for
// MPROF_LOCKS_PER_STACK other locks, returns the stack's bucket with object 0.
// Returns NULL if there is no memory. Call with the guard set.
struct mprof_bucket *
mprof_bucket_get_limited(const struct mprof_bucket_key *key);
// Returns the number of the unload that removed code in the stack of b; 0 if
// there is no such unload.
static inline uint32_t mprof_bucket_gone(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->gone, memory_order_relaxed);
}
// Returns whether the chain of frame pointers is known to have all frames of
// the stack of b.
static inline bool mprof_bucket_is_chain(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->is_chain, memory_order_relaxed);
}
// Returns whether b and key agree in all parts except the stack. Returns false
// if code in the stack of b was unloaded.
static inline bool
mprof_bucket_matches_but_stack(const struct mprof_bucket *b,
                               const struct mprof_bucket_key *key) {
  return b->size == key->size && b->rate == key->rate && b->type == key->type &&
         b->skip == key->skip && b->kind == key->kind &&
         b->labels == key->labels && mprof_bucket_gone(b) == 0;
}
// Returns whether b is the bucket of key. Returns false if code in the stack of
// b was unloaded.
static inline bool mprof_bucket_matches(const struct mprof_bucket *b,
                                        const struct mprof_bucket_key *key) {
  if (b->stack_len != key->stack_len || b->end != key->end ||
      !mprof_bucket_matches_but_stack(b, key))
    return false;
  for (size_t i = 0; i < key->stack_len; i++)
    if (b->stack[i] != key->stack[i])
      return false;
  return true;
}
// Returns the newest bucket of a type; allnext leads to the older buckets.
struct mprof_bucket *mprof_bucket_first(enum mprof_bucket_type type);
// Empties the table of buckets in a forked child.
void mprof_bucket_reset(void);

extern struct mprof_lock mprof_insert_lock;

#endif // MPROF_RT_BUCKET_BUCKET_H
