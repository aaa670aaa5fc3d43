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
#include "heap/event.h"
#include "heap/known_pages.h"
#include "heap/livemap.h"
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
// in the processor's cache, and no other thread writes next to it. When the
// thread has ended, the next thread with this shard uses the blocks.
//
// If a shard belongs to one thread, this thread writes to the row without
// atomic operations. On x86-64, an atomic operation waits for all earlier
// stores of the thread, and a sample has many stores to memory that is not in
// the processor's cache. Threads that share a shard use atomic operations on
// its row, as do threads without a shard on row 0.
#define ROWS (MPROF_OWN_SHARDS + MPROF_COMMON_SHARDS + 1)
#define ROW_SLOTS 8u // one cache line
static struct row {
  _Alignas(64) _Atomic(void *) kept[ROW_SLOTS];
} rows[ROWS];
// Number of blocks that the next sample allocates if it finds its row empty.
static _Atomic unsigned char batch[ROWS];

// Larger blocks of less than 2^MPROF_LG_PLACED_END usable bytes are in classes
// of usable sizes: 8 classes for each doubling of the size, with at most 2
// blocks each. So the cache keeps at most 32 KiB of small blocks for each
// shard, thus 4 MiB, and 1 MiB of larger ones.
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
// The smallest size of huge pages.
#if defined(__aarch64__)
#define HUGE_PAGE (64u << 10)
#else
#define HUGE_PAGE (2u << 20)
#endif

// Returns the class of larger blocks of `size` bytes, at least SMALL_BYTES.
static size_t class_of(size_t size) {
  if (size >> LG_LARGE == 0)
    return 0;
  unsigned lg = 63 - (unsigned)__builtin_clzll(size);
  return (size_t)(lg - LG_LARGE) * 8 + (size >> (lg - 3) & 7);
}

// Replaces `from` by `to` in a slot. Returns false if the slot does not have
// `from`. is_shared: whether other threads may write to the slot.
static bool replace_at(_Atomic(void *) *slot, void *from, void *to,
                       bool is_shared) {
  if (atomic_load_explicit(slot, memory_order_relaxed) != from)
    return false;
  if (is_shared)
    return atomic_compare_exchange_strong(slot, &from, to);
  atomic_store_explicit(slot, to, memory_order_relaxed);
  return true;
}

// Replaces `from` by `to` in one of n slots. Returns false if no slot has
// `from`.
static MPROF_NOINLINE bool replace(_Atomic(void *) *slots, unsigned n,
                                   void *from, void *to, bool is_shared) {
  for (unsigned i = 0; i < n; i++)
    if (replace_at(&slots[i], from, to, is_shared))
      return true;
  return false;
}

// Removes a block from one of n slots. Returns NULL if the slots are empty.
static MPROF_NOINLINE void *take_from(_Atomic(void *) *slots, unsigned n,
                                      bool is_shared) {
  for (unsigned i = 0; i < n; i++) {
    void *p = atomic_load_explicit(&slots[i], memory_order_relaxed);
    if (p && replace_at(&slots[i], p, NULL, is_shared))
      return p;
  }
  return NULL;
}

// --- the thread's row ---
//
// Call the functions of this section with the recursion guard set. A signal
// handler that interrupts a thread at work on its row then leaves the row
// alone.

static bool is_shared(unsigned row) { return row - 1 >= MPROF_OWN_SHARDS; }

// Replaces `from` by `to` in the thread's row. Returns false if no slot has
// `from`.
static bool replace_small(void *from, void *to) {
  const unsigned row = mprof_tls.shard;
  return replace(rows[row].kept, ROW_SLOTS, from, to, is_shared(row));
}

// Removes a block from the thread's row. Returns NULL if the row is empty.
static void *take_small(void) {
  const unsigned row = mprof_tls.shard;
  return take_from(rows[row].kept, ROW_SLOTS, is_shared(row));
}

// --- blocks that the program frees ---

// Makes a block that leaves the cache unknown to the live map.
static void forget(const void *p) {
  bool is_placed;
  mprof_live_take((uintptr_t)p, &is_placed);
}

// Returns whether the cache may have blocks with that many usable bytes.
static bool is_cacheable(size_t usable) {
  return usable >= SMALL_BYTES && usable >> MPROF_LG_PLACED_END == 0;
}

// Puts a block with the value MPROF_LIVE_CACHED into a slot. If the cache has
// no slot for it, makes the block unknown to the live map and returns false.
static bool keep(void *p, size_t usable) {
  if (is_cacheable(usable) &&
      ((usable <= MPROF_PAGE && replace_small(NULL, p)) ||
       replace(large[class_of(usable)], LARGE_SLOTS, NULL, p, true)))
    return true;
  forget(p);
  return false;
}

bool mprof_placed_put(void *p) {
  bool is_kept = false;
  if (!MPROF_IS_ON_PAGE(p) || !p)
    return false;
  const size_t usable = malloc_usable_size(p);
  if (!is_cacheable(usable) || !mprof_guard_enter())
    return false;
  // The live map knows the block before another thread can take it.
  uint32_t stale;
  if (mprof_live_put((uintptr_t)p, true, MPROF_LIVE_CACHED, &stale))
    is_kept = keep(p, usable);
  mprof_guard_leave();
  return is_kept;
}

// Removes a block from the cache, unless it is in the row of another thread,
// and frees it.
static MPROF_NOINLINE void expose(void *p) {
  if (mprof_guard_enter()) {
    bool is_found = replace_small(p, NULL);
    for (size_t i = 0; i < CLASSES && !is_found; i++)
      is_found = replace(large[i], LARGE_SLOTS, p, NULL, true);
    mprof_guard_leave();
  }
  NEXT(free)(p);
}

// Counts the free of the block at ptr and puts it into the cache. This is the
// usual case of mprof_placed_free: nothing else must be done for the free, and
// the block's entry in the live map is changed instead of removed and inserted
// again. Returns false if this is another case, and does nothing. *is_kept
// receives whether the block is in the cache.
static bool free_to_cache(void *ptr, bool *is_kept) {
  if (mprof_events_do_more() || !mprof_guard_enter())
    return false;
  const uint32_t cell = mprof_live_cache((uintptr_t)ptr);
  if (cell != 0) {
    const size_t usable = malloc_usable_size(ptr);
    mprof_event_count_free(cell);
    *is_kept = keep(ptr, usable);
  }
  mprof_guard_leave();
  return cell != 0;
}

// Does the work of mprof_placed_free for a block that may be counted. Not
// inlined, because most frees end with the test of mprof_placed_free, which
// needs no frame.
static MPROF_NOINLINE bool free_known(void *ptr, bool may_keep) {
  bool is_kept;
  if (may_keep && free_to_cache(ptr, &is_kept))
    return is_kept;
  struct mprof_released r = mprof_event_free(ptr);
  if (!r.is_placed)
    return false;
  if (r.cell != 0)
    return may_keep && mprof_placed_put(ptr);
  expose(ptr);
  return false;
}

bool mprof_placed_free(void *ptr, bool may_keep) {
  if (may_keep && !mprof_page_is_known(ptr))
    return false;
  return free_known(ptr, may_keep);
}

// --- blocks for samples ---

// Removes a block of at least `size` bytes from a class of larger blocks.
static void *take_of_class(size_t at, size_t size) {
  void *p = at < CLASSES ? take_from(large[at], LARGE_SLOTS, true) : NULL;
  if (!p || malloc_usable_size(p) >= size)
    return p;
  // The block is smaller than `size`, although both are in the same class.
  // Insert the block into the cache again, or free it if other threads have
  // filled the slots in the meantime.
  if (!replace(large[at], LARGE_SLOTS, NULL, p, true)) {
    forget(p);
    NEXT(free)(p);
  }
  return NULL;
}

static void *take_large(size_t size) {
  void *p = take_of_class(class_of(size), size);
  return p ? p : take_of_class(class_of(size) + 1, size);
}

// Removes a block of at least `size` bytes from the cache. Returns NULL if
// there is none, or in a signal handler that has interrupted the runtime.
static void *take_kept(size_t size) {
  void *p = NULL;
  if (size >> MPROF_LG_PLACED_END != 0 || !mprof_guard_enter())
    return NULL;
  p = size <= SMALL_BYTES ? take_small() : take_large(size);
  if (p)
    forget(p);
  mprof_guard_leave();
  return p;
}

// Returns whether the mapping of a block may consist of huge pages, which the
// tunable glibc.malloc.hugetlb asks for. Some versions of glibc cannot shrink
// such a mapping.
static bool may_be_huge(const void *p) {
  // The words before the block: the number of unused bytes at the start of the
  // mapping, and the number of the other bytes with three flags.
  const size_t *words = p;
  return ((words[-2] + words[-1]) & ((size_t)HUGE_PAGE - 8)) == 0;
}

void mprof_free_own(void *p) {
  // If the program frees a mapping of at most 32 MB, glibc raises the threshold
  // from which it maps memory to the size of this mapping. Smaller blocks then
  // come from its heap, where a block that grows may have to be copied, while a
  // mapping moves without a copy. So shrink the mapping to one page, which is
  // below the threshold. realloc returns p if it cannot shrink the mapping.
  const int before = errno;
  if (p && mprof_place_is_mapping(p) && !may_be_huge(p))
    p = NEXT(realloc)(p, 1);
  NEXT(free)(p);
  errno = before;
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
    if (!MPROF_IS_ON_PAGE(p)) {
      mprof_free_own(p);
      p = NULL;
    }
  }
  mprof_free_own(front);
  return p;
}

// will_map: whether glibc is known to map memory for a block of this size.
static MPROF_NOINLINE void *allocate(size_t size, bool will_map) {
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
  const unsigned row = mprof_tls.shard;
  unsigned n = atomic_load_explicit(&batch[row], memory_order_relaxed);
  if (mprof_tls.guard != 0) // the cache would not keep the other blocks
    return allocate(SMALL_BYTES, false);
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
  void *p = take_kept(size);
  const bool is_kept = p != NULL;
  if (!is_kept && size <= SMALL_BYTES)
    p = allocate_small();
  else if (!is_kept) // a row would keep a block of a page, and not find it
    p = allocate(size > MPROF_PAGE ? size : MPROF_PAGE + 1, false);
  errno = before;
  *is_fresh = p && !is_kept;
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
