// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bucket holds the counters of the events with equal properties: type, stack,
// block size or lock, sampling rate, labels, and so on. struct mprof_bucket_key
// lists these properties.
//
// Lookups take no lock. Insertions hold insert_lock. A bucket is published when
// it is inserted in the table of bucket.c. After that, only the bucket's
// counters and its fields `cells` and `gone` change. Buckets are never freed.
// This is the data of the heap profile:
//
//   address of a block                    stack, size, labels, rate (the key)
//        |                                             |
//        v  live map (livemap.c)                       v  hash table (bucket.c)
//   +- cell of one thread -+                +- bucket ---------------+
//   | cycles[0] [1] [2] <--+-- an event     | own: the cell of the   |
//   | bucket --------------+--------------->|      bucket's owner    |
//   | shard                |<---------------| cells: those of others |
//   +----------------------+     index      | shared[3]: of threads  |
//                          (C + 2) mod 3    |      without a cell    |
//                          in cycle C       | active <- a flush adds |
//                                            |   own, cells, shared   |
//                                           +------------------------+
//                                     profiles show `active`
//
// An allocation finds its bucket by the key, adds to the thread's cell in it,
// and puts the cell into the live map. A free takes the cell from the live map,
// and adds to it, or to its own thread's cell in the same bucket.
// (Go: bucket, stkbucket)

#ifndef MPROF_RT_BUCKET_BUCKET_H
#define MPROF_RT_BUCKET_BUCKET_H

#include "sys/base.h"
#include "sys/lock.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

enum mprof_bucket_type { // (Go: bucketType)
  MPROF_BUCKET_MEM = 1,
  MPROF_BUCKET_BLOCK = 2,
  MPROF_BUCKET_MUTEX = 3,
  MPROF_BUCKET_THREAD = 4, // stacks that created threads (Go: struct m)
  MPROF_BUCKET_TRACE = 5,  // stacks without counters, as in the execution trace
  MPROF_BUCKET_CUSTOM = 6, // stacks of values in the program's own profiles
  MPROF_BUCKET_MAP = 7,    // stacks that mapped memory
  MPROF_BUCKET_CPU = 8,    // stacks that used processor time
  MPROF_BUCKET_WALL = 9,   // samples of all threads by time (thread_stacks.h)
  MPROF_BUCKET_TYPES
};

// Number of slots of Go's hash table of buckets. The runtime begins with a
// smaller table, and replaces a table that is too full by a larger one
// (bucket.c). (Go: buckHashSize)
#define MPROF_BUCK_HASH_SIZE 179999
// Maximum value of the field `skip` of a bucket: the number of functions that
// writers of profiles drop at the leaf of a stack. Inlined functions count as
// functions. (Go: maxSkip)
#define MPROF_MAX_SKIP 6
// Maximum number of return addresses in a stack. (Go: maxProfStackDepth)
#define MPROF_MAX_STACK_DEPTH 1024

// Value of the field `owner` of a bucket that belongs to no shard, and of the
// field `shard` of a cell whose shard has several threads.
#define MPROF_NO_OWNER UINT16_MAX

// Numbers of allocations and frees. (Go: memRecordCycle)
struct mprof_mem_cycle {
  _Atomic uint64_t allocs, frees;
};

// The counters of one shard (a group of threads, usually a single one) in a MEM
// bucket. A cell fills a cache line, and only its shard writes it. The live map
// has the handle of the cell that has counted a block. If the same shard frees
// the block, it touches no other part of the bucket.
struct mprof_cell {
  struct mprof_mem_cycle cycles[3]; // never decrease
  uint32_t bucket;                  // handle of the bucket
  // Number of the shard if it has only one thread at a time, whose additions
  // then need no atomic operation; otherwise MPROF_NO_OWNER.
  uint16_t shard;
  uint16_t unused[5];
  // With the option heapx, a struct mprof_heapx_cell follows in memory. The
  // cell `own` of a bucket has none.
};
_Static_assert(sizeof(struct mprof_cell) == 64, "one cache line");

// Counters of a MEM bucket. A thread adds its events to own, to shared[] or to
// another cell (counts.h). The array index comes from the cycle machine
// (counts.h). A flush adds the new counts to active, which profiles show. (Go:
// memRecord, whose future[] has the counts of all threads)
struct mprof_mem_counts {
  struct mprof_cell own; // the cell of the bucket's owner
  // Threads add to shared by atomic operations; never decreases.
  struct mprof_mem_cycle shared[3];
  // Numbers of those events in own, in shared and in the cells that flushes
  // have already added to active. Guarded by active_lock.
  struct mprof_mem_cycle taken[3];
  struct mprof_mem_cycle active; // shown in profiles; guarded by active_lock
};

// Maximum number of locks for which one stack has separate buckets. If threads
// with this stack wait for more locks, one common bucket counts their waits for
// all further locks. The field `object` of the common bucket is 0.
#define MPROF_LOCKS_PER_STACK 32u

// Counters of a BLOCK, MUTEX or WALL bucket. Each event is scaled by the
// sampling rate when it is counted, so that a later change of the rate does not
// affect the counts. All fields are atomic. (Go: blockRecord)
struct mprof_wait_counts {
  _Atomic uint64_t count; // scaled number of events * MPROF_COUNT_ONE
  _Atomic uint64_t
      cycles; // scaled waiting time in ticks of clock.h; WALL: time
  _Atomic uint64_t cpu_ns; // WALL: processor time
  // Only in a stack's common bucket, whose object is 0: number of locks that
  // have separate buckets for this stack. Written under insert_lock.
  _Atomic uint32_t locks;
};
// The value that one event with scale 1 adds to `count`. `count` is a
// fixed-point number, so that threads can add to it without a lock. Go's count
// is a double.
#define MPROF_COUNT_ONE (UINT64_C(1) << 20)

// Counter of a THREAD bucket: number of threads that the stack created. Atomic.
struct mprof_thread_counts {
  _Atomic uint64_t created;
};

// Counter of a CUSTOM bucket: number of values that the stack added to a
// profile and that are still in the profile.
struct mprof_custom_counts {
  uint64_t values; // guarded by the profile's lock
};

// Counters of a MAP bucket: the memory that the stack has mapped, and the part
// of it that is still mapped. Guarded by ranges_lock (mapped_ranges.h).
struct mprof_map_counts {
  uint64_t alloc_objects, alloc_bytes; // of calls that have mapped memory
  uint64_t inuse_objects, inuse_bytes; // of ranges in the ledger
};

// Counters of a CPU bucket. Atomic.
struct mprof_cpu_counts {
  _Atomic uint64_t samples;
  _Atomic uint64_t ns; // the processor time that the samples stand for
};

// The properties of an event that select its bucket.
struct mprof_bucket_key {
  const mprof_pc *stack; // return addresses, leaf first
  uint32_t stack_len;
  uint8_t type; // enum mprof_bucket_type
  uint8_t skip; // functions to drop at the leaf: 0 to MPROF_MAX_SKIP
  uint8_t end;  // enum mprof_stack_end
  // enum mprof_kind (hooked.h); 0 unless type is BLOCK, MUTEX or WALL.
  uint8_t kind;
  // Label set of the thread (labels.h); 0 unless type is MEM, BLOCK, MUTEX, CPU
  // or WALL.
  uint16_t labels;
  union {
    size_t size; // MEM: bytes per block; CUSTOM: mprof_custom_profile_key
    // BLOCK, MUTEX, WALL: the lock's address; 0: no particular lock
    uintptr_t object;
  };
  // MEM: heap_rate at which the blocks were sampled. The numbers of all blocks
  // are estimated from the counts and this rate.
  uint64_t rate;
  // MEM, set by mprof_bucket_at: the thread's cell in the bucket that was
  // found, or NULL if it is not known (mprof_cell_here).
  struct mprof_cell *cell;
};

// Where the return addresses of a stack are (unwind.h).
struct mprof_bucket_slots {
  const mprof_pc *roots; // return addresses that follow those of the stack
  const uint16_t *codes;
  uint16_t roots_len, codes_len;
};

// Memory layout of a MEM bucket, in cache lines:
//   own                     written by the bucket's owner (a shard)
//   shared, part of taken   apart from own, so that the additions of many
//                           threads to shared do not slow down the owner's
//   rest of taken, active, hash, allnext
//   the key, the stack      all that the search for a bucket compares
// A thread that counts an event reads only the last and its own counters.
struct mprof_bucket {
  union {
    struct mprof_mem_counts mem;
    struct mprof_wait_counts wait;
    struct mprof_thread_counts thread;
    struct mprof_custom_counts custom;
    struct mprof_map_counts map;
    struct mprof_cpu_counts cpu;
  };
  // All fields from here on, except cells and gone, are written once,
  // before the bucket is published (inserted in the table).
  uint64_t hash;
  struct mprof_bucket *allnext; // next older bucket of the same type
  union {                       // same as in struct mprof_bucket_key
    size_t size;
    uintptr_t object;
  };
  uint32_t rate;
  uint16_t stack_len;
  // 0: only unwinding finds the frames of the stack. Otherwise the places of
  // the return addresses are known (unwind.h) and are stored after the stack,
  // and the field is 1 + the number of return addresses of libc's frames at the
  // root, which follow those of the stack.
  uint16_t roots_plus_1;
  // MEM: handle of the first struct mprof_cell_line, through which the cells of
  // all shards except the owner are found; 0: no cells. Atomic.
  _Atomic uint32_t cells;
  // 0: no code in the stack is known to be unloaded. Otherwise: number of the
  // module unload (module_unloads.h) that removed code in the stack; the bucket
  // counts no further events. Written under modules_lock.
  _Atomic uint32_t gone;
  // MEM: the same number as mem.own.shard. The threads of other shards read it
  // here, because the owner often writes to the cache line of mem.own.
  uint16_t owner;
  uint8_t type;
  uint8_t skip;
  uint8_t end;
  uint8_t kind;
  uint16_t labels;
  // The return addresses. If roots_plus_1 is 1 + n, these follow: n further
  // return addresses; 16 bits with the number of words that follow the stack;
  // and the codes of unwind.h.
  mprof_pc stack[];
};
_Static_assert(offsetof(struct mprof_bucket, mem.shared) == 64,
               "the fields before mem.shared must fill one cache line");
_Static_assert(offsetof(struct mprof_bucket, size) % 64 == 0 &&
                   offsetof(struct mprof_bucket, stack) ==
                       sizeof(struct mprof_bucket),
               "the key and the first return addresses share a cache line");

// Returns the hash of a stack and a size. The search for a bucket begins at
// slot hash % size of the table. (Go: stkbucket, "hash stack")
uint64_t mprof_bucket_hash(const mprof_pc *stack, size_t len, size_t size);

struct mprof_thread;
// Finds the bucket of an event: recognizes the stack of the calling thread
// among its latest stacks, or unwinds it, and looks up the bucket of this
// stack. Returns the bucket for the stack from `frame` on and for the
// properties in *key, or NULL if there is no memory. The caller sets all fields
// of *key except the stack, and key->cell to NULL. This function may write the
// stack and the cell to *key. Call with the recursion guard set. t: record of
// the calling thread. Its field `scratch` must not be NULL,
//   because the stack is written to this buffer.
// leaf: an address to insert before the stack; 0: none.
// frame: frame address of the runtime's function that the program has called.
// The stack begins with the caller of this function.
struct mprof_bucket *mprof_bucket_at(struct mprof_thread *t,
                                     struct mprof_bucket_key *key,
                                     mprof_pc leaf, uintptr_t frame);
// Begins to fetch into the cache the entries of the thread's cache of stacks
// that mprof_bucket_at will use for this call, if the result is the bucket with
// the handle `known`, which has this type and neither size nor labels, and if
// it was the first bucket of its stack. frame: as for mprof_bucket_at; the
// frame must exist.
void mprof_bucket_fetch(enum mprof_bucket_type type, mprof_pc leaf,
                        uintptr_t frame, uint32_t known);
// Returns the bucket of `key`. If no such bucket exists and `alloc` is true,
// inserts a new bucket, however many buckets for single objects the stack has
// (mprof_bucket_make). Returns NULL if there is no memory, or if `alloc` is
// false and no bucket exists. Call with the recursion guard set
// (mprof_guard_enter).
struct mprof_bucket *mprof_bucket_get(const struct mprof_bucket_key *key,
                                      bool alloc);
// Returns the bucket of `key` as mprof_bucket_get does, and inserts it if
// needed. If it inserts the bucket and `slots` is not NULL, stores the slots in
// the bucket. Limits the number of buckets for single objects: otherwise, a
// stack that waits for many locks would need one bucket for each lock. If
// MPROF_LOCKS_PER_STACK other locks already have buckets for this stack,
// returns the stack's common bucket, whose object is 0. Returns NULL if there
// is no memory. Call with the recursion guard set.
struct mprof_bucket *mprof_bucket_make(const struct mprof_bucket_key *key,
                                       const struct mprof_bucket_slots *slots);
// Returns the number of the module unload (module_unloads.h) that removed code
// in the stack of b. Returns 0 if no code in the stack is known to be unloaded.
static inline uint32_t mprof_bucket_gone(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->gone, memory_order_relaxed);
}
// Stores `unload`, the number of a module unload, in the field gone of b, and
// removes b from the table. Otherwise a program that loads the same library
// again and again would have a long search for a bucket among those with the
// same stack. Acquires insert_lock. Call with modules_lock held.
void mprof_bucket_bury(struct mprof_bucket *b, uint32_t unload);
// Returns whether b has the slots of its stack.
static inline bool mprof_bucket_has_slots(const struct mprof_bucket *b) {
  return b->roots_plus_1 != 0;
}
// Returns the slots of a bucket that has them.
static inline struct mprof_bucket_slots
mprof_bucket_slots(const struct mprof_bucket *b) {
  const mprof_pc *roots = b->stack + b->stack_len;
  const unsigned roots_len = b->roots_plus_1 - 1u;
  const uint16_t *codes = (const uint16_t *)(roots + roots_len) + 1;
  return (struct mprof_bucket_slots){
      .roots = roots,
      .codes = codes,
      .roots_len = (uint16_t)roots_len,
      .codes_len = (uint16_t)((codes[-1] - roots_len) * 4 - 1)};
}
// Returns the number of words that b has after its stack.
static inline size_t mprof_bucket_words_after(const struct mprof_bucket *b) {
  return mprof_bucket_has_slots(b) ? mprof_bucket_slots(b).codes[-1] : 0;
}
// Returns the newest bucket of a type, or NULL. The field allnext of each
// bucket leads to the next older bucket.
struct mprof_bucket *mprof_bucket_first(enum mprof_bucket_type type);
// Returns the number of buckets of a type.
size_t mprof_bucket_count(enum mprof_bucket_type type);
// Function that is called for a new bucket if the thread holds no lock of the
// runtime, with the recursion guard set. NULL: none. Written at start, by
// snapshot/persist_notes.c, which belongs to a later room.
extern MPROF_HIDDEN void (*mprof_bucket_observer)(const struct mprof_bucket *b);
// Empties the table of buckets. Call this in a forked child.
void mprof_bucket_reset(void);

extern MPROF_HIDDEN struct mprof_lock mprof_insert_lock;

// --- tables of buckets (bucket_map.c) ---
//
// Hash tables of buckets: from words to buckets or cells, and from stacks to
// numbers.
//
// struct mprof_bucket_map maps words to buckets or cells. A word identifies a
// value in one of the program's own profiles, which a bucket counts, or an
// object of a garbage collector, which a cell counts (bucket.h). The table lies
// in persistent memory (persistent.h), grows as needed, and reuses the slots of
// removed words.

struct mprof_value {
  uintptr_t word;
  uint32_t bucket; // handle of the bucket or cell; 0: unused slot
  uint32_t mark;   // for any use by the table's owner; 0 after insertion
};

// A table. If all bytes are 0, the table is empty. The owner of the table must
// guard it by a lock.
struct mprof_bucket_map {
  struct mprof_value *values; // array of slots, with open addressing
  size_t size;                // number of slots: a power of two, or 0
  _Atomic size_t count; // number of used slots; may be read without the lock
};

// Inserts `word` with `bucket`, or changes the bucket of `word` if `word` is
// already in the table. Sets the word's mark to 0. Stores the previous bucket
// of `word` in *before, or 0 if `word` was not in the table. Returns false if
// there is no memory.
bool mprof_bucket_map_put(struct mprof_bucket_map *t, uintptr_t word,
                          uint32_t bucket, uint32_t *before);
// Returns the bucket of `word`, or 0 if `word` is not in the table.
uint32_t mprof_bucket_map_find(const struct mprof_bucket_map *t,
                               uintptr_t word);
// Removes `word` and returns its bucket. Returns 0 if `word` was not in the
// table.
uint32_t mprof_bucket_map_take(struct mprof_bucket_map *t, uintptr_t word);
// Removes the word in slot i. Another word may move into slot i.
void mprof_value_remove_at(struct mprof_bucket_map *t, size_t i);
static inline size_t mprof_bucket_map_count(const struct mprof_bucket_map *t) {
  return atomic_load_explicit(&t->count, memory_order_relaxed);
}
// Empties the table. Call this in a forked child.
void mprof_bucket_map_reset(struct mprof_bucket_map *t);

// --- stacks ---

// struct mprof_stack_index maps each stack to a number. The table is used
// during one snapshot of a profile to group buckets with equal stacks. Such
// buckets exist, because buckets also differ in size, rate, kind or lock.

struct mprof_stack_slot {
  // A bucket with the slot's stack; NULL: unused slot.
  const struct mprof_bucket *bucket;
  // The number of the stack. It is 0 in a new slot, and the caller may set it
  // to any value.
  size_t value;
};

struct mprof_stack_index {
  struct mprof_stack_slot *slots; // array with open addressing
  size_t count;                   // number of slots; a power of two
  bool by_labels;
};

// Makes an empty table for at most `stacks` stacks. If by_labels is true,
// buckets with equal stacks but different labels have separate slots. Returns 0
// or -ENOMEM.
int mprof_stack_index_init(struct mprof_stack_index *ix, size_t stacks,
                           bool by_labels);
// Returns the slot for the stack of b. If the stack has no slot yet, adds a
// slot with value 0.
struct mprof_stack_slot *mprof_stack_index_get(struct mprof_stack_index *ix,
                                               const struct mprof_bucket *b);
void mprof_stack_index_free(struct mprof_stack_index *ix);

#endif // MPROF_RT_BUCKET_BUCKET_H
