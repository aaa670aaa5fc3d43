// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of blocks on page boundaries: blocks that were counted and that the
// program has freed, and some that were allocated ahead. Later samples use
// these blocks. An allocator usually returns the block that was freed last. If
// a counted block were freed to the allocator, the hot loop that freed the
// block would get the same block again. The block would now be uncounted, but
// still on a page boundary, so each later free in the loop would call the
// runtime. Also, an aligned allocation costs more than all the rest of a
// sample.
//
// Therefore counted blocks stay in this cache until a sample needs one. A block
// is freed to the allocator if the cache has no slot for the block.

#include "heap/placed_cache.h"

#include "heap/beneath.h"
#include "heap/page_placement.h"
#include "sys/tls.h"
#include "thread/shards.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#pragma weak malloc_usable_size
#pragma weak posix_memalign

// --- where the blocks are ---

// Small blocks all have almost the size of a page, so that glibc takes one from
// just behind the other. glibc stores 8 bytes before each block, rounds the sum
// up to 16 bytes, and puts the next block 16 bytes behind it. The 40 bytes that
// are missing leave a block of glibc's least size between two small blocks. If
// less were missing, the program's next block would lie on a page boundary, and
// each free of it would call the runtime.
#define SMALL_BYTES (MPROF_PAGE - 40)
// The small blocks of a thread are in the row of its shard (shards.h). So a
// thread usually gets a block that its own last samples have used: the block is
// in the processor's cache, and no other thread writes next to it.
//
// Only the thread that owns the shard writes to a row, without atomic
// operations. An atomic operation waits for all earlier stores of the thread,
// and a sample has many stores to memory that is not in the processor's cache.
// Threads without a shard of their own share row 0, with atomic operations.
#define ROWS (MPROF_OWN_SHARDS + 1)
#define ROW_SLOTS 8u // one cache line
static struct row {
  _Alignas(64) _Atomic(void *) kept[ROW_SLOTS];
} rows[ROWS];
// Number of the last row that was ever used.
static _Atomic unsigned last_row;
// Number of blocks that the next sample allocates if it finds its row empty.
static _Atomic unsigned char batch[ROWS];

// Larger blocks of less than 2^MPROF_LG_PLACED_END usable bytes are in classes
// of usable sizes: 8 classes for each doubling of the size, with at most 2
// blocks each. So the cache keeps at most 32 KiB of small blocks for a thread,
// and 1 MiB of larger ones.
#define LG_LARGE 12u
#define CLASSES ((MPROF_LG_PLACED_END - LG_LARGE) * 8)
#define LARGE_SLOTS 2u

// The larger freed blocks in the cache. Threads need no lock, because they
// insert and remove a block by an atomic exchange of its slot.
static _Atomic(void *) large[CLASSES][LARGE_SLOTS];

// glibc maps memory for a large block, and unmaps it when the block is freed.
// The next blocks come from its heap if their requests are smaller than the
// mapping was. A request for an aligned block is larger than the mapping that
// the last one made, so a loop that allocates and frees a large block would map
// and unmap memory in each round. Therefore a request of at least this size
// asks for EXTRA bytes more.
static _Atomic size_t mapped_from = MPROF_MIN_MAPPED;
#define EXTRA ((size_t)2 * MPROF_PAGE)
// glibc keeps smaller freed blocks in the thread's cache (carve).
#define MIN_FRONT (MPROF_PAGE / 2)
// Distance from the last byte of a block of glibc, whose size is 8 more than a
// multiple of 16 bytes, to the first byte of the next one, and 8 bytes more.
#define OVERHEAD 16

// Returns the class of larger blocks of `size` bytes, at least SMALL_BYTES.
static size_t class_of(size_t size) {
  if (size >> LG_LARGE == 0)
    return 0;
  unsigned lg = 63 - (unsigned)__builtin_clzll(size);
  return (size_t)(lg - LG_LARGE) * 8 + (size >> (lg - 3) & 7);
}

// Replaces `from` by `to` in one of n slots. Returns false if no slot has
// `from`.
static MPROF_NOINLINE bool replace(_Atomic(void *) *slots, unsigned n,
                                   void *from, void *to) {
  for (unsigned i = 0; i < n; i++) {
    void *expected = from;
    if (atomic_load_explicit(&slots[i], memory_order_relaxed) == from &&
        atomic_compare_exchange_strong(&slots[i], &expected, to))
      return true;
  }
  return false;
}

// Removes a block from one of n slots. Returns NULL if the slots are empty.
static MPROF_NOINLINE void *take_from(_Atomic(void *) *slots, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    if (atomic_load_explicit(&slots[i], memory_order_relaxed) == NULL)
      continue;
    void *p = atomic_exchange(&slots[i], NULL);
    if (p)
      return p;
  }
  return NULL;
}

// --- the thread's row ---

static unsigned own_row(void) {
  return mprof_tls.shard <= MPROF_OWN_SHARDS ? mprof_tls.shard : 0;
}

// Replaces `from` by `to` in the thread's row. Returns false if no slot has
// `from`, or if the thread is in a signal handler that interrupted the runtime,
// because the interrupted code may be using the row.
static bool replace_own(unsigned row, void *from, void *to) {
  _Atomic(void *) *slots = rows[row].kept;
  unsigned i = 0;
  if (row == 0)
    return replace(slots, ROW_SLOTS, from, to);
  if (!mprof_guard_enter())
    return false;
  while (i < ROW_SLOTS &&
         atomic_load_explicit(&slots[i], memory_order_relaxed) != from)
    i++;
  if (i < ROW_SLOTS)
    atomic_store_explicit(&slots[i], to, memory_order_relaxed);
  mprof_guard_leave();
  return i < ROW_SLOTS;
}

// Removes a block from the thread's row. Returns NULL if the row is empty, or
// if the thread is in such a signal handler.
static void *take_own(unsigned row) {
  _Atomic(void *) *slots = rows[row].kept;
  void *p = NULL;
  unsigned i = 0;
  if (row == 0)
    return take_from(slots, ROW_SLOTS);
  if (!mprof_guard_enter())
    return NULL;
  while (i < ROW_SLOTS &&
         !(p = atomic_load_explicit(&slots[i], memory_order_relaxed)))
    i++;
  if (p)
    atomic_store_explicit(&slots[i], NULL, memory_order_relaxed);
  mprof_guard_leave();
  return p;
}

static bool keep_small(void *p) {
  const unsigned row = own_row();
  // If two threads store at once, the smaller number may stay. The next block
  // of the other thread then corrects it.
  if (row > atomic_load_explicit(&last_row, memory_order_relaxed))
    atomic_store_explicit(&last_row, row, memory_order_relaxed);
  return replace_own(row, NULL, p);
}

// --- blocks that the program frees ---

bool mprof_placed_put(void *p) {
  bool is_kept = false;
  if (((uintptr_t)p & (MPROF_PAGE - 1)) != 0 || !p)
    return false;
  const size_t usable = malloc_usable_size(p);
  if (usable >= SMALL_BYTES && usable <= MPROF_PAGE)
    is_kept = keep_small(p);
  if (!is_kept && usable >= SMALL_BYTES && usable >> MPROF_LG_PLACED_END == 0)
    is_kept = replace(large[class_of(usable)], LARGE_SLOTS, NULL, p);
  return is_kept;
}

static bool is_in_row(unsigned row, const void *p) {
  for (unsigned i = 0; i < ROW_SLOTS; i++)
    if (atomic_load_explicit(&rows[row].kept[i], memory_order_relaxed) == p)
      return true;
  return false;
}

// p may be any address that the program passed to free. So this function must
// not call malloc_usable_size, which would read the memory in front of p.
bool mprof_placed_expose(void *p) {
  bool is_found = replace_own(own_row(), p, NULL) ||
                  replace(rows[0].kept, ROW_SLOTS, p, NULL);
  for (size_t i = 0; i < CLASSES && !is_found; i++)
    is_found = replace(large[i], LARGE_SLOTS, p, NULL);
  if (is_found) {
    NEXT(free)(p);
    return false;
  }
  const unsigned last = atomic_load_explicit(&last_row, memory_order_relaxed);
  for (unsigned row = 1; row <= last; row++)
    if (is_in_row(row, p))
      return true;
  return false;
}

// --- blocks for samples ---

// Removes a block of at least `size` bytes from a class of larger blocks.
static void *take_of_class(size_t at, size_t size) {
  void *p = at < CLASSES ? take_from(large[at], LARGE_SLOTS) : NULL;
  if (!p || malloc_usable_size(p) >= size)
    return p;
  // The block is smaller than `size`, although both are in the same class.
  // Insert the block into the cache again. The block is freed if other threads
  // have filled the slots in the meantime.
  if (!mprof_placed_put(p))
    NEXT(free)(p);
  return NULL;
}

static void *take_large(size_t size) {
  void *p = take_of_class(class_of(size), size);
  return p ? p : take_of_class(class_of(size) + 1, size);
}

// Allocates a large block of glibc's heap on a page boundary. glibc's
// posix_memalign cuts the block out of a larger one and frees the two ends. An
// end of less than about a kilobyte then stays in the thread's cache (tcache)
// for ever. Behind the block, it keeps the block from being resized in place.
// So the block is cut out here, such that there is no end behind it, and the
// end in front of it is too large for the thread's cache.
// Returns NULL if the memory did not turn out so, or if there is none.
// *is_mapped: whether glibc maps memory for such a block.
static void *carve(size_t size, bool *is_mapped) {
  void *p = NULL;
  char *front = NEXT(malloc)(size + MPROF_PAGE + MIN_FRONT);
  *is_mapped = front && mprof_place_is_mapping(front);
  if (front && !*is_mapped) {
    const uintptr_t least = (uintptr_t)front + MIN_FRONT;
    const uintptr_t page = (least + MPROF_PAGE - 1) & ~(MPROF_PAGE - 1ul);
    // Cut off the memory from the page boundary on. The next block begins there
    // if glibc has no smaller free block that is large enough.
    char *cut = NEXT(realloc)(front, page - (uintptr_t)front - OVERHEAD);
    front = cut ? cut : front;
    p = NEXT(malloc)(size);
    if (((uintptr_t)p & (MPROF_PAGE - 1)) != 0) {
      NEXT(free)(p);
      p = NULL;
    }
  }
  NEXT(free)(front);
  return p;
}

// will_map: whether glibc is known to map memory for a block of this size.
static void *allocate(size_t size, bool will_map) {
  void *p = NULL;
  const size_t from = atomic_load_explicit(&mapped_from, memory_order_relaxed);
  const size_t extra =
      (will_map || size >= from) && mprof_place.is_glibc ? EXTRA : 0;
  if (size > SIZE_MAX - extra ||
      NEXT(posix_memalign)(&p, MPROF_PAGE, size + extra) != 0)
    return NULL;
  // With the extra bytes, the free of this mapping makes the next block of this
  // size come from the heap. Without them, try with them next time.
  if (size >= MPROF_MIN_MAPPED && mprof_place_is_mapping(p))
    atomic_store_explicit(&mapped_from, extra ? size + 1 : size,
                          memory_order_relaxed);
  return p;
}

// Allocates small blocks. Returns one and keeps the others for the next
// samples. Whenever a thread finds its row empty, it allocates twice as many
// blocks as the last time, because a request of a page makes glibc merge all
// free blocks of its bins. A program with few samples keeps few blocks.
static void *allocate_small(void) {
  unsigned row = own_row();
  unsigned n = atomic_load_explicit(&batch[row], memory_order_relaxed);
  n = n == 0 ? 1 : n;
  if (n < ROW_SLOTS)
    atomic_store_explicit(&batch[row], (unsigned char)(n * 2),
                          memory_order_relaxed);
  void *p = allocate(SMALL_BYTES, false);
  for (unsigned i = 1; i < n && p; i++) {
    void *spare = allocate(SMALL_BYTES, false);
    if (spare && !mprof_placed_put(spare)) {
      NEXT(free)(spare);
      break;
    }
  }
  return p;
}

void *mprof_placed_get(size_t size, bool *is_fresh) {
  const int before = errno;
  void *p;
  *is_fresh = false;
  if (size <= SMALL_BYTES) {
    p = take_own(own_row());
    *is_fresh = !p;
    p = p ? p : allocate_small();
  } else {
    p = size >> MPROF_LG_PLACED_END == 0 ? take_large(size) : NULL;
    *is_fresh = !p;
    // A block of a page would be put into a row, where this size is not sought.
    p = p ? p : allocate(size > MPROF_PAGE ? size : MPROF_PAGE + 1, false);
  }
  errno = before;
  *is_fresh = *is_fresh && p;
  return p;
}

void *mprof_placed_get_resized(size_t size, bool *is_fresh) {
  if (size >> MPROF_LG_PLACED_END == 0 || !mprof_place.is_glibc)
    return mprof_placed_get(size, is_fresh);
  const int before = errno;
  bool is_mapped;
  void *p = carve(size, &is_mapped);
  p = p ? p : allocate(size, is_mapped);
  *is_fresh = p != NULL;
  errno = before;
  return p;
}
