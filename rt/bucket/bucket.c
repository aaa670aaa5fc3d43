// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the bucket of an event, and keeps the table of buckets. (Go: buckhash,
// stkbucket)
//
//   key (type, stack, size, ...)
//     | hash
//     v
//   table.slots[]   one word: 16 bits of the hash, address of the bucket
//     |
//     v
//   bucket          counters, key, stack[]
//     ^
//   first[type]     newest bucket of the type; allnext leads to older buckets
//
// Lookups take no lock. Insertions hold insert_lock. Buckets never move and are
// never freed.
//
// The table uses open addressing. Each slot holds 16 bits of the hash (the
// tag), so that most lookups need not read a bucket with a different key. A
// lookup normally reads one cache line of the table and one bucket, however
// many buckets exist.
//
// The hash function is that of Go's table. When a table is too full, its slots
// are copied to a new table that is four times as large. The old table is never
// freed, because other threads may still read the old table. These threads do
// not find the buckets that were inserted after the copy. This does no harm,
// because every insertion first searches the current table with insert_lock
// held.

#include "bucket/bucket.h"

#include "bucket/counts.h"
#include "bucket/heapx.h"
#include "bucket/peak.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

#include <string.h>

struct mprof_lock mprof_insert_lock = MPROF_LOCK_INIT(MPROF_RANK_INSERT);

// Sizes of the successive tables. Each size is a prime, about four times the
// previous size. The first table is small, because each insertion into a large
// and almost empty table touches a new page. It is replaced when 1/8 of it is
// full, the other tables when half of them is.
static const size_t table_sizes[] = {
    2803,     11251,    45007,    MPROF_BUCK_HASH_SIZE, 720007, 2880029,
    11520191, 46080767, 184323079};

struct table {
  size_t size;
  size_t used;      // number of slots that are not 0; guarded by insert_lock
  unsigned size_at; // index of size in table_sizes
  // Each slot is tag << 48 | address of a bucket, or GRAVE, or 0 if unused.
  // Written with insert_lock held.
  _Atomic uint64_t slots[];
};

#define TAG_SHIFT 48
#define ADDRESS_MASK ((UINT64_C(1) << TAG_SHIFT) - 1)

static struct {
  _Atomic(struct table *) table; // current table; written under insert_lock
  // The newest bucket of each type; written with insert_lock held.
  _Atomic(struct mprof_bucket *) first[MPROF_BUCKET_TYPES];
} buckets;

void (*mprof_bucket_observer)(const struct mprof_bucket *b);

uint64_t mprof_bucket_hash(const mprof_pc *stack, size_t len, size_t size) {
  uint64_t h = 0;
  for (size_t i = 0; i < len; i++) {
    h += stack[i];
    h += h << 10;
    h ^= h >> 6;
  }
  h += size;
  h += h << 10;
  h ^= h >> 6;
  h += h << 3;
  h ^= h >> 11;
  return h;
}

// --- lookup and insertion ---

// Returns whether b and `key` agree in all properties except the stack and the
// size or object. Returns false if code in the stack of b was unloaded.
static inline bool matches_but_size(const struct mprof_bucket *b,
                                    const struct mprof_bucket_key *key) {
  return b->rate == key->rate && b->type == key->type && b->skip == key->skip &&
         b->kind == key->kind && b->labels == key->labels &&
         mprof_bucket_gone(b) == 0;
}

// Returns whether b and `key` agree in all properties except the stack, which
// the caller compares. Returns false if code in the stack of b was unloaded.
static inline bool matches_but_stack(const struct mprof_bucket *b,
                                     const struct mprof_bucket_key *key) {
  return b->size == key->size && matches_but_size(b, key);
}

// Returns whether b is the bucket of `key`. Returns false if code in the stack
// of b was unloaded.
static inline bool matches(const struct mprof_bucket *b,
                           const struct mprof_bucket_key *key) {
  if (b->stack_len != key->stack_len || b->end != key->end ||
      !matches_but_stack(b, key))
    return false;
  for (size_t i = 0; i < key->stack_len; i++)
    if (b->stack[i] != key->stack[i])
      return false;
  return true;
}

// The slot of a buried bucket (mprof_bucket_bury). A search passes over such a
// slot, because no key has the type of `grave`. The next insertion on the way
// may use the slot.
static struct mprof_bucket grave = {.type = 0};
#define GRAVE ((uint64_t)(uintptr_t)&grave | ~ADDRESS_MASK)

static struct mprof_bucket *find(struct table *t, uint64_t hash,
                                 const struct mprof_bucket_key *key) {
  if (!t)
    return NULL;
  uint64_t tag = hash >> TAG_SHIFT;
  for (size_t i = hash % t->size;; i = i + 1 < t->size ? i + 1 : 0) {
    uint64_t slot = atomic_load_explicit(&t->slots[i], memory_order_acquire);
    if (!slot)
      return NULL;
    if (slot >> TAG_SHIFT != tag)
      continue;
    struct mprof_bucket *b = (struct mprof_bucket *)(slot & ADDRESS_MASK);
    if (matches(b, key))
      return b;
  }
}

static void put_locked(struct table *t, const struct mprof_bucket *b) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_INSERT));
  size_t i = b->hash % t->size;
  uint64_t old;
  while ((old = atomic_load_explicit(&t->slots[i], memory_order_relaxed)) &&
         old != GRAVE)
    i = i + 1 < t->size ? i + 1 : 0;
  uint64_t slot = (uint64_t)(uintptr_t)b | (b->hash >> TAG_SHIFT << TAG_SHIFT);
  atomic_store_explicit(&t->slots[i], slot, memory_order_release);
  t->used += old == 0;
  MPROF_ASSERT(t->used < t->size); // a search needs an empty slot to end
}

static struct table *new_table(unsigned size_at) {
  size_t size = table_sizes[size_at];
  struct table *t =
      mprof_persistent_alloc(sizeof(*t) + size * sizeof(t->slots[0]));
  if (t) {
    t->size = size;
    t->size_at = size_at;
  }
  return t;
}

// Returns the table for the next insertion. If the current table is too full
// (table_sizes), makes a larger table and returns it. If no larger table can be
// made, returns the current table until it is 7/8 full, and NULL from then on.
// The current table must keep empty slots, because the search for a missing key
// ends at an empty slot.
static struct table *table_with_room_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_INSERT));
  struct table *t = atomic_load_explicit(&buckets.table, memory_order_relaxed);
  if (!t) {
    t = new_table(0);
    atomic_store_explicit(&buckets.table, t, memory_order_release);
    return t;
  }
  if (t->used < t->size / (t->size_at == 0 ? 8 : 2))
    return t;
  unsigned next_at = t->size_at + 1;
  bool has_next = next_at < sizeof(table_sizes) / sizeof(table_sizes[0]);
  struct table *bigger = has_next ? new_table(next_at) : NULL;
  if (!bigger)
    return t->used < t->size / 8 * 7 ? t : NULL;
  for (size_t i = 0; i < t->size; i++) {
    uint64_t slot = atomic_load_explicit(&t->slots[i], memory_order_relaxed);
    if (slot && slot != GRAVE)
      put_locked(bigger, (struct mprof_bucket *)(slot & ADDRESS_MASK));
  }
  atomic_store_explicit(&buckets.table, bigger, memory_order_release);
  return bigger;
}

// Maximum number of further return addresses of a bucket with slots.
#define ROOTS_MAX 14

// Returns the number of words that slots need after the stack of a bucket.
static size_t words_of(const struct mprof_bucket_slots *slots) {
  return slots->roots_len + (1u + slots->codes_len + 3) / 4;
}

// Stores the slots after the stack of b, which has room for them. See
// mprof_bucket_slots.
static void put_slots(struct mprof_bucket *b,
                      const struct mprof_bucket_slots *slots) {
  MPROF_ASSERT(slots->roots_len <= ROOTS_MAX);
  mprof_pc *roots = b->stack + b->stack_len;
  uint16_t *codes = (uint16_t *)(roots + slots->roots_len);
  memcpy(roots, slots->roots, slots->roots_len * sizeof(roots[0]));
  *codes++ = (uint16_t)words_of(slots);
  memcpy(codes, slots->codes, slots->codes_len * sizeof(codes[0]));
  b->roots_plus_1 = (uint16_t)(1 + slots->roots_len);
}

// (Go: newBucket)
static struct mprof_bucket *new_bucket(uint64_t hash,
                                       const struct mprof_bucket_key *key,
                                       const struct mprof_bucket_slots *slots) {
  const size_t after = slots ? words_of(slots) : 0;
  const size_t words = key->stack_len + after;
  size_t size = sizeof(struct mprof_bucket) + words * sizeof(mprof_pc);
  if (mprof_heapx_is_on() && key->type == MPROF_BUCKET_MEM)
    size = mprof_heapx_offset(words) + sizeof(struct mprof_heapx_counts);
  const size_t before = key->type == MPROF_BUCKET_MEM ? mprof_peak_room() : 0;
  char *memory = mprof_persistent_alloc(before + size);
  if (!memory)
    return NULL;
  struct mprof_bucket *b = (struct mprof_bucket *)(memory + before);
  MPROF_ASSERT(((uintptr_t)b & ~ADDRESS_MASK) == 0);
  b->hash = hash;
  b->size = key->size;
  b->rate = (uint32_t)key->rate;
  b->owner = mprof_shard_owner();
  if (key->type == MPROF_BUCKET_MEM)
    mprof_cell_init(&b->mem.own, b, b->owner);
  b->stack_len = (uint16_t)key->stack_len;
  b->type = key->type;
  b->skip = key->skip;
  b->end = key->end;
  b->kind = key->kind;
  b->labels = key->labels;
  memcpy(b->stack, key->stack, key->stack_len * sizeof(b->stack[0]));
  if (slots)
    put_slots(b, slots);
  return b;
}

// Returns how many locks have buckets of their own for the stack of `common`.
static uint32_t locks_of(const struct mprof_bucket *common) {
  return atomic_load_explicit(&common->wait.locks, memory_order_relaxed);
}

// common: if the bucket is for a single lock, the common bucket of the stack,
// which counts the locks that have buckets; otherwise NULL.
static struct mprof_bucket *
insert_locked(uint64_t hash, const struct mprof_bucket_key *key,
              const struct mprof_bucket_slots *slots,
              struct mprof_bucket *common) {
  struct mprof_bucket *b = find(
      atomic_load_explicit(&buckets.table, memory_order_relaxed), hash, key);
  if (b)
    return b;
  const uint32_t locks = common ? locks_of(common) : 0;
  if (locks == MPROF_LOCKS_PER_STACK)
    return NULL;
  struct table *t = table_with_room_locked();
  if (!t)
    return NULL;
  b = new_bucket(hash, key, slots);
  if (!b)
    return NULL;
  if (common)
    atomic_store_explicit(&common->wait.locks, locks + 1, memory_order_relaxed);
  b->allnext =
      atomic_load_explicit(&buckets.first[key->type], memory_order_relaxed);
  put_locked(t, b);
  atomic_store_explicit(&buckets.first[key->type], b, memory_order_release);
  mprof_persist_set_root(MPROF_PERSIST_BUCKETS + key->type, b,
                         sizeof(*b) + b->stack_len * sizeof(b->stack[0]));
  mprof_stat_add(MPROF_STAT_buckets, 1);
  return b;
}

static inline struct mprof_bucket *look_up(const struct mprof_bucket_key *key,
                                           uint64_t *hash) {
  MPROF_ASSERT(key->type < MPROF_BUCKET_TYPES);
  MPROF_ASSERT(key->stack_len <= MPROF_MAX_STACK_DEPTH);
  // If labels is 0, this is the hash that Go computes for the stack and
  // key->size.
  const size_t size = key->size ^ (size_t)key->labels << 48;
  *hash = mprof_bucket_hash(key->stack, key->stack_len, size);
  return find(atomic_load_explicit(&buckets.table, memory_order_acquire), *hash,
              key);
}

static MPROF_NOINLINE struct mprof_bucket *
insert(uint64_t hash, const struct mprof_bucket_key *key,
       const struct mprof_bucket_slots *slots, struct mprof_bucket *common) {
  mprof_lock_acquire(&mprof_insert_lock);
  struct mprof_bucket *b = insert_locked(hash, key, slots, common);
  mprof_lock_release(&mprof_insert_lock);
  // The trace finds its stacks while it holds a lock.
  if (mprof_unlikely(mprof_bucket_observer != NULL) && b && mprof_tls.held == 0)
    mprof_bucket_observer(b);
  return b;
}

// Returns the bucket of *key, and inserts it if needed. common: see
// insert_locked.
static struct mprof_bucket *make(const struct mprof_bucket_key *key,
                                 const struct mprof_bucket_slots *slots,
                                 struct mprof_bucket *common) {
  uint64_t hash;
  struct mprof_bucket *b = look_up(key, &hash);
  return b ? b : insert(hash, key, slots, common);
}

struct mprof_bucket *mprof_bucket_get(const struct mprof_bucket_key *key,
                                      bool alloc) {
  uint64_t hash;
  return alloc ? make(key, NULL, NULL) : look_up(key, &hash);
}

// Returns whether *key is for a single lock or other object that threads wait
// for. mprof_bucket_make limits how many such buckets a stack may have.
static inline bool is_of_object(const struct mprof_bucket_key *key) {
  return (key->type == MPROF_BUCKET_BLOCK || key->type == MPROF_BUCKET_MUTEX ||
          key->type == MPROF_BUCKET_WALL) &&
         key->object != 0;
}

struct mprof_bucket *mprof_bucket_make(const struct mprof_bucket_key *key,
                                       const struct mprof_bucket_slots *slots) {
  if (!is_of_object(key))
    return make(key, slots, NULL);
  struct mprof_bucket *b = mprof_bucket_get(key, false);
  if (b)
    return b;
  struct mprof_bucket_key shared = *key;
  shared.object = 0;
  struct mprof_bucket *common = make(&shared, slots, NULL);
  if (!common || locks_of(common) == MPROF_LOCKS_PER_STACK)
    return common;
  b = make(key, slots, common);
  return b ? b : common;
}

void mprof_bucket_bury(struct mprof_bucket *b, uint32_t unload) {
  atomic_store_explicit(&b->gone, unload, memory_order_relaxed);
  mprof_lock_acquire(&mprof_insert_lock);
  struct table *t = atomic_load_explicit(&buckets.table, memory_order_relaxed);
  for (size_t i = b->hash % t->size;; i = i + 1 < t->size ? i + 1 : 0) {
    uint64_t slot = atomic_load_explicit(&t->slots[i], memory_order_relaxed);
    if ((slot & ADDRESS_MASK) == (uintptr_t)b)
      atomic_store_explicit(&t->slots[i], GRAVE, memory_order_relaxed);
    if (!slot || (slot & ADDRESS_MASK) == (uintptr_t)b)
      break;
  }
  mprof_lock_release(&mprof_insert_lock);
}

struct mprof_bucket *mprof_bucket_first(enum mprof_bucket_type type) {
  return atomic_load_explicit(&buckets.first[type], memory_order_acquire);
}

size_t mprof_bucket_count(enum mprof_bucket_type type) {
  size_t n = 0;
  for (const struct mprof_bucket *b = mprof_bucket_first(type); b != NULL;
       b = b->allnext)
    n++;
  return n;
}

void mprof_bucket_reset(void) {
  mprof_lock_reset(&mprof_insert_lock);
  atomic_store(&buckets.table, NULL);
  for (int type = 0; type < MPROF_BUCKET_TYPES; type++)
    atomic_store(&buckets.first[type], NULL);
}

// --- the bucket of an event ---

// The bucket of an event is that of the stack that begins at a given frame.
// Each thread has two caches of buckets:
//
//   call site and frame address
//     |
//     v
//   known[]   a bucket, whose slots tell where the return addresses are
//     |  and size or object
//     v
//   sized[]   the bucket of this stack and size, and the thread's cell in it
//             (a few entries, or many for a thread that needs them)
//
// If the return addresses in these places are those of the bucket in known[],
// the event has its stack, and the stack is not unwound (unwind.h). If sized[]
// does not have the bucket of the size, the table of all buckets has it, or a
// new bucket gets the stack and the slots of the bucket in known[].
//
// Otherwise the stack is unwound by call frame information (unwind_cfi.c), and
// the table of all buckets has its bucket, or gets a new one. Not every stack
// has slots: an example is a stack that passes a signal handler. Each event of
// such a stack is unwound.

// Returns the entry of known[] for the stack that begins at `frame`, on the
// thread's own stack. The hash includes the frame address, because most call
// paths that lead to the same call site have different frame addresses.
static inline struct mprof_bucket **known_at(const struct mprof_thread *t,
                                             mprof_pc leaf, uintptr_t frame) {
  const mprof_pc pc = mprof_stack_return(frame + 8);
  const uint64_t h = (pc ^ frame << 20 ^ leaf << 8) * 0x9e3779b97f4a7c15u;
  return &t->scratch->known[(h >> 56) % MPROF_KNOWN];
}

// Returns the entry of t->sized for `key` and a bucket in known[] with the
// handle `known`.
static inline struct mprof_sized *sized_at(const struct mprof_thread *t,
                                           const struct mprof_bucket_key *key,
                                           uint32_t known) {
  const uint64_t size = key->size + key->labels * 8191u + key->type * 127u;
  const uint64_t h = (size ^ (uint64_t)known << 32) * 0x9e3779b97f4a7c15u;
  return &t->sized[(h >> 48) & t->sized_mask];
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
  if (e->cell == 0 || e->size != key->size || !matches_but_size(like, key))
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
      !matches_but_size(like, key))
    return;
  const struct mprof_cell *cell = mprof_cell_here(b);
  if (cell->shard != mprof_tls.shard)
    return;
  e->size = (uint32_t)key->size;
  e->cell = mprof_persistent_handle(cell);
}

static bool is_crowded(const struct mprof_thread *t) {
  uint32_t used = 0;
  for (uint32_t i = 0; i <= t->sized_mask; i++)
    used += t->sized[i].known != 0;
  return used > (t->sized_mask + 1) / MPROF_SIZED_ROOM;
}

// Counts an entry of t->sized that another bucket replaces. If there were more
// of them than entries, and many entries are in use, gives the thread a larger,
// empty array. The mask follows the array, because a signal handler may end
// this function by longjmp.
static void count_replaced(struct mprof_thread *t) {
  const uint32_t size = t->sized_mask + 1;
  if (size >= MPROF_SIZED_MAX || ++t->sized_replaced <= size)
    return;
  t->sized_replaced = 0;
  if (!is_crowded(t))
    return;
  struct mprof_sized *more =
      mprof_persistent_try_alloc(MPROF_SIZED_GROWTH * size * sizeof(*more));
  if (!more)
    return;
  t->sized = more;
  atomic_signal_fence(memory_order_release);
  t->sized_mask = MPROF_SIZED_GROWTH * size - 1;
}

// Returns the bucket of *key, whose stack is that of `like`. Inserts the bucket
// if needed. e: the entry for this bucket in the cache of thread t.
static MPROF_NOINLINE struct mprof_bucket *
find_like(struct mprof_thread *t, struct mprof_bucket_key *key,
          struct mprof_bucket *like, struct mprof_sized *e) {
  const uint32_t known = mprof_persistent_handle(like);
  struct mprof_bucket *b = like;
  // The places of return addresses may be others in code that was loaded later.
  if (mprof_bucket_gone(like) != 0)
    return NULL;
  if (e->known == known)
    b = mprof_persistent_known(e->bucket);
  if (!matches_but_stack(b, key)) {
    const struct mprof_bucket_slots slots = mprof_bucket_slots(like);
    key->stack = like->stack;
    key->stack_len = like->stack_len;
    key->end = like->end;
    b = mprof_bucket_make(key, &slots);
  }
  if (!b)
    return NULL;
  const bool is_other =
      e->known != known || mprof_persistent_known(e->bucket) != b;
  const bool is_replaced = is_other && e->known != 0;
  if (is_other)
    *e = (struct mprof_sized){.known = known,
                              .bucket = mprof_persistent_handle(b)};
  remember_cell(e, key, like, b);
  if (is_replaced)
    count_replaced(t);
  return b;
}

// Returns the bucket of *key for the stack in t->scratch->stack, which begins
// at `frame`, and inserts it if needed. leaves: number of addresses at the
// start of the stack that have no frame, 0 or 1. proof_len: see struct
// mprof_unwound; 0 if a new bucket is to have no slots.
static struct mprof_bucket *make_with_slots(const struct mprof_thread *t,
                                            const struct mprof_bucket_key *key,
                                            uintptr_t frame, size_t leaves,
                                            size_t proof_len) {
  // The array is small, because the thread may have little stack memory. Slots
  // of a stack that needs more codes are not stored.
  enum { CODES_MAX = 288 };
  uint16_t codes[CODES_MAX];
  struct mprof_bucket_slots slots = {.roots = key->stack + key->stack_len,
                                     .codes = codes};
  if (proof_len > 1)
    slots.codes_len = (uint16_t)mprof_slots_record(
        &t->range, frame, key->stack + leaves, proof_len, codes, CODES_MAX);
  if (slots.codes_len != 0)
    slots.roots_len = (uint16_t)(leaves + proof_len - key->stack_len);
  const bool has_slots = slots.codes_len != 0 && slots.roots_len <= ROOTS_MAX;
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
    b = make_with_slots(t, key, frame, leaves,
                        is_own_stack ? facts.proof_len : 0);
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
  struct mprof_sized *e = sized_at(t, key, known);
  if (mprof_likely(e->known == known && has_cell(e, key, like)))
    return mprof_persistent_known(e->bucket);
  struct mprof_bucket *b = find_like(t, key, like, e);
  return b ? b : find_by_tables(t, key, leaf, frame);
}

void mprof_bucket_fetch(enum mprof_bucket_type type, mprof_pc leaf,
                        uintptr_t frame, uint32_t known) {
  const struct mprof_bucket_key key = {.type = (uint8_t)type};
  const struct mprof_thread *t = mprof_tls.self;
  if (!t || !t->scratch || !mprof_stack_holds(&t->range, frame))
    return;
  __builtin_prefetch(known_at(t, leaf, frame));
  __builtin_prefetch(sized_at(t, &key, known));
}
