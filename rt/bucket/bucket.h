// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buckets: the counters of one stack. There is one bucket for each combination
// of event type, block size or lock, sampling rate, skip, labels and stack.
// Lookups take no lock, insertions hold insert_lock. After a bucket is
// published, only its counters, cells and gone change. Buckets are never freed.
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
  MPROF_BUCKET_THREAD = 4, // created threads; Go keeps them in its m
  MPROF_BUCKET_TRACE = 5,  // stacks of the execution trace; has no counts
  MPROF_BUCKET_CUSTOM = 6, // values in the program's own profiles
  MPROF_BUCKET_TYPES
};

// Number of slots of the first table. (Go: buckHashSize)
#define MPROF_BUCK_HASH_SIZE 179999
// Maximum number of logical frames that writers skip when they expand a stack.
// (Go: maxSkip)
#define MPROF_MAX_SKIP 6
// Maximum number of return addresses in a stack. (Go: maxProfStackDepth)
#define MPROF_MAX_STACK_DEPTH 1024

// The counts of one cycle. (Go: memRecordCycle)
struct mprof_mem_cycle {
  _Atomic uint64_t allocs, frees;
};

// Counters of a MEM bucket; counts.h says which thread counts where. own only
// grows, and one thread writes it. future is atomic. A flush moves the contents
// of both to active. (Go: memRecord)
struct mprof_mem_counts {
  struct mprof_mem_cycle own[3];    // written by the bucket's owner
  struct mprof_mem_cycle active;    // guarded by active_lock
  struct mprof_mem_cycle future[3]; // atomic; emptied under active_lock
  struct mprof_mem_cycle taken[3];  // published part of own and cells;
                                    // guarded by active_lock
};

// Maximum number of locks for which one stack has buckets of their own. Further
// locks share the stack's bucket without a lock.
#define MPROF_LOCKS_PER_STACK 32u

// Counters of a BLOCK or MUTEX bucket. Values are scaled when they are added,
// so a later change of the rate does not affect them. All atomic.
// (Go: blockRecord)
struct mprof_wait_counts {
  _Atomic uint64_t count;  // events, in parts of 1 / MPROF_COUNT_ONE
  _Atomic uint64_t cycles; // ticks of clock.h
  _Atomic uint32_t locks; // object 0: number of locks with buckets of their own
};
// The unit of count: 1 event. Go's count is a double; fixed-point numbers can
// be added without a lock.
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
  uint16_t labels; // the thread's (labels.h); 0 unless MEM, BLOCK or MUTEX
  union {
    size_t size;      // MEM: bytes; CUSTOM: the profile's key
    uintptr_t object; // BLOCK, MUTEX: the lock's address, or 0
  };
  uint64_t rate; // MEM: heap_rate of the sample, by which counts are scaled
};

// layout: the first cache line has the counters of the owner's thread (own) and
// active. The second line has the rarely used counters of all threads (future).
// After them lie the fields that lookups read, beside those that flushes write.
struct mprof_bucket {
  union {
    struct mprof_mem_counts mem;
    struct mprof_wait_counts wait;
    struct mprof_thread_counts thread;
    struct mprof_custom_counts custom;
  };
  // All fields from here on, except cells and gone, are written once, before
  // the bucket is published.
  uint64_t hash;
  union { // as in the key
    size_t size;
    uintptr_t object;
  };
  uint32_t rate;
  uint32_t stack_len;
  // MEM: handle of the other threads' counters (counts.h). Atomic.
  _Atomic uint32_t cells;
  uint16_t owner; // MEM: the shard that counts in own
  uint8_t type;
  uint8_t skip;
  uint8_t end;
  uint8_t kind;
  uint16_t labels;
  // 0, or the number of the unload that removed code in the stack. A bucket
  // with a number counts no further events. Written under modules_lock
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

// Returns the hash of a stack and a size. The slot in the first table is
// hash % MPROF_BUCK_HASH_SIZE. (Go: stkbucket, "hash stack")
uint64_t mprof_bucket_hash(const mprof_pc *stack, size_t len, size_t size);

// Returns the bucket of key. If there is none and alloc is true, makes one.
// Returns NULL if there is no such bucket or no memory for one. Call with the
// guard set.
struct mprof_bucket *mprof_bucket_get(const struct mprof_bucket_key *key,
                                      bool alloc);
// Returns the bucket of key as mprof_bucket_get(key, true) does, with a limit
// on buckets per stack. A stack that waits for many locks would need one bucket
// for each lock. Beyond MPROF_LOCKS_PER_STACK, further locks share the stack's
// bucket without a lock.
struct mprof_bucket *
mprof_bucket_get_limited(const struct mprof_bucket_key *key);
// Returns the number of the unload by which b is gone, 0 if it is not gone.
static inline uint32_t mprof_bucket_gone(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->gone, memory_order_relaxed);
}
// Compares only the parts of the key beside the stack.
static inline bool
mprof_bucket_matches_but_stack(const struct mprof_bucket *b,
                               const struct mprof_bucket_key *key) {
  return b->size == key->size && b->rate == key->rate && b->type == key->type &&
         b->skip == key->skip && b->kind == key->kind &&
         b->labels == key->labels && mprof_bucket_gone(b) == 0;
}
// Returns whether b is the bucket of key. False for a bucket that is gone.
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
// Returns the newest bucket of a type; the older ones follow by allnext.
struct mprof_bucket *mprof_bucket_first(enum mprof_bucket_type type);
// Forgets all buckets, in a forked child.
void mprof_bucket_reset(void);

extern struct mprof_lock mprof_insert_lock;

#endif // MPROF_RT_BUCKET_BUCKET_H
