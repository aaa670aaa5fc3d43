// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranges are in chunks, which an array lists in the order of addresses. So
// a search is two binary searches, and a change moves at most one chunk of
// ranges, and for each new chunk the array. Chunks and arrays are persistent
// memory, and unused chunks are kept for reuse.

#include "memory/mapped_ranges.h"

#include "options/flags.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"

#include <errno.h>
#include <string.h>

struct range {
  uintptr_t start, limit;
  uint32_t bucket; // its handle
  // The ledger has kept the rest of this range, which was taken, before it or
  // after it.
  bool joins_before, joins_after;
};

enum { CHUNK_BYTES = 4096 };
struct mprof_ranges {
  struct mprof_ranges *next; // of a list of free or taken chunks
  size_t len;
  struct range v[(CHUNK_BYTES - 16) / sizeof(struct range)];
};
enum {
  CHUNK_LEN = sizeof(((struct mprof_ranges *)0)->v) / sizeof(struct range)
};
_Static_assert(sizeof(struct mprof_ranges) <= CHUNK_BYTES, "size of a chunk");

static struct {
  struct mprof_lock lock; // ranges_lock; guards all fields and MAP buckets
  struct mprof_ranges **chunks; // none is empty
  size_t len, cap;
  struct mprof_ranges *unused;
  atomic_bool has_calls; // written under the lock
} ledger = {.lock = MPROF_LOCK_INIT(MPROF_RANK_RANGES)};

// --- chunks ---

static struct mprof_ranges *new_chunk_locked(void) {
  struct mprof_ranges *c = ledger.unused;
  if (c)
    ledger.unused = c->next;
  else
    c = mprof_persistent_alloc(sizeof(*c));
  if (c) {
    c->next = NULL;
    c->len = 0;
  }
  return c;
}

static void free_chunk_locked(struct mprof_ranges *c) {
  c->next = ledger.unused;
  ledger.unused = c;
}

// Makes room for one more chunk in the array.
static bool grow_locked(void) {
  const size_t cap = ledger.cap == 0 ? 64 : 2 * ledger.cap;
  if (ledger.len < ledger.cap)
    return true;
  struct mprof_ranges **v = mprof_persistent_alloc(cap * sizeof(*v));
  if (!v)
    return false;
  if (ledger.len > 0)
    memcpy(v, ledger.chunks, ledger.len * sizeof(*v));
  ledger.chunks = v;
  ledger.cap = cap;
  return true;
}

// Inserts a chunk at position i of the array, with the ranges of the chunk
// before it from `from` on.
static bool insert_chunk_locked(size_t i, size_t from) {
  struct mprof_ranges *c = grow_locked() ? new_chunk_locked() : NULL;
  if (!c)
    return false;
  if (i > 0) {
    struct mprof_ranges *before = ledger.chunks[i - 1];
    c->len = before->len - from;
    memcpy(c->v, before->v + from, c->len * sizeof(c->v[0]));
    before->len = from;
  }
  memmove(ledger.chunks + i + 1, ledger.chunks + i,
          (ledger.len - i) * sizeof(struct mprof_ranges *));
  ledger.chunks[i] = c;
  ledger.len++;
  return true;
}

// --- positions ---

// The position of a range, or the one after the last range.
struct place {
  size_t chunk, i;
};

static struct range *at_locked(struct place p) {
  return p.chunk < ledger.len ? &ledger.chunks[p.chunk]->v[p.i] : NULL;
}

static struct place normal_locked(struct place p) {
  return p.chunk < ledger.len && p.i == ledger.chunks[p.chunk]->len
             ? (struct place){p.chunk + 1, 0}
             : p;
}

static struct range *before_locked(struct place p) {
  if (p.i == 0 && p.chunk == 0)
    return NULL;
  if (p.i > 0)
    return &ledger.chunks[p.chunk]->v[p.i - 1];
  struct mprof_ranges *c = ledger.chunks[p.chunk - 1];
  return &c->v[c->len - 1];
}

// Returns the place of the first range that ends after addr.
static struct place find_locked(uintptr_t addr) {
  struct place p = {0, 0};
  for (size_t end = ledger.len; p.chunk < end;) {
    const size_t middle = p.chunk + (end - p.chunk) / 2;
    const struct mprof_ranges *c = ledger.chunks[middle];
    if (c->v[c->len - 1].limit <= addr)
      p.chunk = middle + 1;
    else
      end = middle;
  }
  if (p.chunk == ledger.len)
    return p;
  const struct mprof_ranges *c = ledger.chunks[p.chunk];
  for (size_t end = c->len; p.i < end;) {
    const size_t middle = p.i + (end - p.i) / 2;
    if (c->v[middle].limit <= addr)
      p.i = middle + 1;
    else
      end = middle;
  }
  return p;
}

// --- changes ---

static struct mprof_map_counts *counts_of(uint32_t bucket) {
  return &((struct mprof_bucket *)mprof_persistent_known(bucket))->map;
}

// Inserts r at p. Returns false if there is no memory.
static bool insert_locked(struct place p, const struct range *r) {
  if (p.chunk == ledger.len && ledger.len > 0) { // append to the last chunk
    p.chunk--;
    p.i = ledger.chunks[p.chunk]->len;
  }
  if (ledger.len == 0) {
    if (!insert_chunk_locked(0, 0))
      return false;
  } else if (ledger.chunks[p.chunk]->len == CHUNK_LEN) {
    // Ranges that only follow the last one leave full chunks behind.
    const size_t from = p.i == CHUNK_LEN ? CHUNK_LEN - 1 : CHUNK_LEN / 2;
    if (!insert_chunk_locked(p.chunk + 1, from))
      return false;
    if (p.i > from)
      p = (struct place){p.chunk + 1, p.i - from};
  }
  struct mprof_ranges *c = ledger.chunks[p.chunk];
  memmove(c->v + p.i + 1, c->v + p.i, (c->len - p.i) * sizeof(*r));
  c->v[p.i] = *r;
  c->v[p.i].joins_before = c->v[p.i].joins_after = false;
  c->len++;
  struct mprof_map_counts *n = counts_of(r->bucket);
  n->inuse_objects++;
  n->inuse_bytes += r->limit - r->start;
  return true;
}

static void remove_locked(struct place p) {
  struct mprof_ranges *c = ledger.chunks[p.chunk];
  struct mprof_map_counts *n = counts_of(c->v[p.i].bucket);
  n->inuse_objects--;
  n->inuse_bytes -= c->v[p.i].limit - c->v[p.i].start;
  c->len--;
  memmove(c->v + p.i, c->v + p.i + 1, (c->len - p.i) * sizeof(c->v[0]));
  if (c->len > 0)
    return;
  free_chunk_locked(c);
  ledger.len--;
  memmove(ledger.chunks + p.chunk, ledger.chunks + p.chunk + 1,
          (ledger.len - p.chunk) * sizeof(struct mprof_ranges *));
}

// Sets where the range r begins and ends.
static void resize_locked(struct range *r, uintptr_t start, uintptr_t limit) {
  counts_of(r->bucket)->inuse_bytes += (limit - start) - (r->limit - r->start);
  r->start = start;
  r->limit = limit;
}

// The chunks of the ranges that are taken.
struct taken {
  struct mprof_ranges *first, *last;
};

static void keep_locked(struct taken *t, const struct range *r) {
  if (!t->last || t->last->len == CHUNK_LEN) {
    struct mprof_ranges *c = new_chunk_locked();
    if (!c)
      return;
    *(t->last ? &t->last->next : &t->first) = c;
    t->last = c;
  }
  t->last->v[t->last->len++] = *r;
}

// Removes [start, limit). Adds what was there to *t, unless t is NULL.
static void cut_locked(uintptr_t start, uintptr_t limit, struct taken *t) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_RANGES));
  struct place p = find_locked(start);
  struct range *r;
  while ((r = at_locked(p)) && r->start < limit) {
    const struct range whole = *r;
    const bool has_before = whole.start<start, has_after = whole.limit> limit;
    const struct range part = {has_before ? start : whole.start,
                               has_after ? limit : whole.limit, whole.bucket,
                               has_before, has_after};
    if (t)
      keep_locked(t, &part);
    if (has_before) {
      resize_locked(r, whole.start, start);
      p.i++;
      if (has_after) {
        const struct range after = {limit, whole.limit, whole.bucket, false,
                                    false};
        insert_locked(normal_locked(p), &after);
        return;
      }
      p = normal_locked(p);
    } else if (has_after) {
      resize_locked(r, limit, whole.limit);
    } else {
      const size_t chunks = ledger.len;
      remove_locked(p);
      if (ledger.len == chunks)
        p = normal_locked(p);
    }
  }
}

// Adds a range, in place of what the ledger has there.
static void put_locked(const struct range *r) {
  cut_locked(r->start, r->limit, NULL);
  struct place p = find_locked(r->start);
  struct range *before = r->joins_before ? before_locked(p) : NULL,
               *after = r->joins_after ? at_locked(p) : NULL;
  if (before && (before->limit != r->start || before->bucket != r->bucket))
    before = NULL;
  if (after && (after->start != r->limit || after->bucket != r->bucket))
    after = NULL;
  if (before && after) {
    const uintptr_t limit = after->limit;
    remove_locked(p);
    resize_locked(before, before->start, limit);
  } else if (before) {
    resize_locked(before, before->start, r->limit);
  } else if (after) {
    resize_locked(after, r->start, after->limit);
  } else {
    insert_locked(p, r);
  }
}

void mprof_ranges_map(uintptr_t start, uintptr_t limit, struct mprof_bucket *b,
                      bool grows) {
  const struct range r = {start, limit, mprof_persistent_handle(b), grows,
                          false};
  if (start >= limit)
    return;
  mprof_lock_acquire(&ledger.lock);
  put_locked(&r);
  b->map.alloc_objects++;
  b->map.alloc_bytes += limit - start;
  atomic_store_explicit(&ledger.has_calls, true, memory_order_relaxed);
  mprof_lock_release(&ledger.lock);
}

struct mprof_ranges *mprof_ranges_take(uintptr_t start, uintptr_t limit) {
  struct taken t = {NULL, NULL};
  mprof_lock_acquire(&ledger.lock);
  cut_locked(start, limit, &t);
  mprof_lock_release(&ledger.lock);
  return t.first;
}

static void free_locked(struct mprof_ranges *taken) {
  for (struct mprof_ranges *c = taken, *next; c; c = next) {
    next = c->next;
    free_chunk_locked(c);
  }
}

void mprof_ranges_drop(struct mprof_ranges *taken) {
  if (!taken)
    return;
  mprof_lock_acquire(&ledger.lock);
  free_locked(taken);
  mprof_lock_release(&ledger.lock);
}

void mprof_ranges_give_back(struct mprof_ranges *taken, uintptr_t distance,
                            uintptr_t limit) {
  if (!taken)
    return;
  mprof_lock_acquire(&ledger.lock);
  for (const struct mprof_ranges *c = taken; c; c = c->next)
    for (size_t i = 0; i < c->len; i++) {
      struct range r = c->v[i];
      r.start += distance;
      r.limit += distance;
      r.joins_before = r.joins_before && distance == 0;
      r.joins_after = r.joins_after && distance == 0 && r.limit <= limit;
      if (r.limit > limit)
        r.limit = limit;
      if (r.start < r.limit)
        put_locked(&r);
    }
  free_locked(taken);
  mprof_lock_release(&ledger.lock);
}

uintptr_t mprof_ranges_limit(uintptr_t start) {
  mprof_lock_acquire(&ledger.lock);
  const struct range *r = at_locked(find_locked(start));
  const uintptr_t limit = r && r->start == start ? r->limit : start;
  mprof_lock_release(&ledger.lock);
  return limit;
}

bool mprof_ranges_has_calls(void) {
  return atomic_load_explicit(&ledger.has_calls, memory_order_relaxed);
}

// --- copies ---

static size_t count_locked(void) {
  size_t n = 0;
  for (size_t i = 0; i < ledger.len; i++)
    n += ledger.chunks[i]->len;
  return n;
}

// Maps an array for the elements that count() counts, and for those that are
// added meanwhile. Acquires ranges_lock and returns the array, or returns NULL.
// *len: the number of elements.
static void *array_and_lock(size_t (*count)(void), size_t each, size_t *len,
                            size_t *mapped_bytes) {
  size_t room = 64;
  for (;;) {
    void *v = mprof_os_map(room * each);
    if (!v)
      return NULL;
    mprof_lock_acquire(&ledger.lock);
    *len = count();
    if (*len <= room) {
      *mapped_bytes = room * each;
      return v;
    }
    mprof_lock_release(&ledger.lock);
    mprof_os_unmap(v, room * each);
    room = *len + 64;
  }
}

int mprof_ranges_copy(struct mprof_mapped_range **v, size_t *len,
                      size_t *mapped_bytes) {
  size_t n = 0;
  *v = array_and_lock(count_locked, sizeof(**v), len, mapped_bytes);
  if (!*v)
    return -ENOMEM;
  for (size_t i = 0; i < ledger.len; i++)
    for (size_t j = 0; j < ledger.chunks[i]->len; j++) {
      const struct range *r = &ledger.chunks[i]->v[j];
      const struct mprof_bucket *b = mprof_persistent_known(r->bucket);
      (*v)[n++] = (struct mprof_mapped_range){
          r->start, r->limit, b, b->stack_len > 0 ? b->stack[0] : 0};
    }
  mprof_lock_release(&ledger.lock);
  return 0;
}

static size_t count_from(const struct mprof_bucket *b) {
  size_t n = 0;
  for (; b; b = b->allnext)
    n++;
  return n;
}

static size_t count_buckets(void) {
  return count_from(mprof_bucket_first(MPROF_BUCKET_MAP));
}

int mprof_ranges_copy_counts(struct mprof_map_sample **v, size_t *len,
                             size_t *mapped_bytes) {
  *v = array_and_lock(count_buckets, sizeof(**v), len, mapped_bytes);
  if (!*v)
    return -ENOMEM;
  const struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MAP);
  // Other threads may have added buckets since they were counted.
  for (size_t n = count_from(b); n > *len; n--)
    b = b->allnext;
  for (size_t i = 0; b; b = b->allnext)
    (*v)[i++] = (struct mprof_map_sample){b, b->map};
  mprof_lock_release(&ledger.lock);
  return 0;
}

// --- forked children ---

// The ranges of the parent, and after them the stacks of their buckets, each as
// a word with its length, a word with enum mprof_stack_end, and the return
// addresses. While a range is here, its bucket is the index of the first word.
static struct {
  struct range *v;
  size_t len, mapped_bytes;
} inherited;

// Returns whether the ledger is complete. The child is the copy of a process
// whose other threads went on during the copy. With the option persist, the
// chunks were in memory that the parent has changed even after the fork.
static bool is_complete(void) {
  uintptr_t at = 0;
  if (atomic_load(&ledger.lock.word) != 0 || mprof_flags.persist[0] != '\0')
    return false;
  for (size_t i = 0; i < ledger.len; i++) {
    const struct mprof_ranges *c = ledger.chunks[i];
    if (!c || c->len > CHUNK_LEN)
      return false;
    for (const struct range *r = c->v; r < c->v + c->len; r++) {
      if (r->start < at || r->start >= r->limit)
        return false;
      at = r->limit;
    }
  }
  return true;
}

// Gives each bucket of a range its index, in alloc_bytes: the counts of the
// parent are not used again. Returns the number of words of all stacks.
static size_t number_stacks(void) {
  size_t words = 0;
  for (size_t i = 0; i < ledger.len; i++)
    for (size_t j = 0; j < ledger.chunks[i]->len; j++) {
      struct mprof_bucket *b =
          mprof_persistent_known(ledger.chunks[i]->v[j].bucket);
      if (b->map.alloc_objects != UINT64_MAX) {
        b->map.alloc_objects = UINT64_MAX;
        b->map.alloc_bytes = words;
        words += 2 + b->stack_len;
      }
    }
  return words;
}

static void put_aside(void) {
  const size_t n = count_locked(), words = number_stacks();
  inherited.mapped_bytes = n * sizeof(struct range) + words * sizeof(uintptr_t);
  inherited.v = mprof_os_map(inherited.mapped_bytes);
  if (!inherited.v)
    return;
  uintptr_t *stacks = (uintptr_t *)(inherited.v + n);
  for (size_t i = 0; i < ledger.len; i++)
    for (size_t j = 0; j < ledger.chunks[i]->len; j++) {
      struct range *r = &inherited.v[inherited.len++];
      *r = ledger.chunks[i]->v[j];
      const struct mprof_bucket *b = mprof_persistent_known(r->bucket);
      r->bucket = (uint32_t)b->map.alloc_bytes;
      uintptr_t *stack = stacks + r->bucket;
      stack[0] = b->stack_len;
      stack[1] = b->end;
      memcpy(stack + 2, b->stack, b->stack_len * sizeof(b->stack[0]));
    }
}

void mprof_ranges_reset(void) {
  inherited.v = NULL;
  inherited.len = 0;
  if (ledger.len > 0 && is_complete())
    put_aside();
  mprof_lock_reset(&ledger.lock);
  ledger.chunks = NULL;
  ledger.len = ledger.cap = 0;
  ledger.unused = NULL;
  atomic_store(&ledger.has_calls, false);
}

void mprof_ranges_begin_child(bool keeps) {
  const uintptr_t *stacks = (const uintptr_t *)(inherited.v + inherited.len);
  if (!inherited.v)
    return;
  for (size_t i = 0; keeps && i < inherited.len; i++) {
    struct range *r = &inherited.v[i];
    const uintptr_t *stack = stacks + r->bucket;
    const struct mprof_bucket_key key = {.type = MPROF_BUCKET_MAP,
                                         .stack = (const mprof_pc *)(stack + 2),
                                         .stack_len = (uint32_t)stack[0],
                                         .end = (uint8_t)stack[1]};
    struct mprof_bucket *b = mprof_bucket_get(&key, true);
    if (!b)
      break;
    r->bucket = mprof_persistent_handle(b);
    mprof_lock_acquire(&ledger.lock);
    put_locked(r);
    mprof_lock_release(&ledger.lock);
  }
  mprof_os_unmap(inherited.v, inherited.mapped_bytes);
  inherited.v = NULL;
}
