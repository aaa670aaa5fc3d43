// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the heaps of glibc's malloc; see owners.h.

#include "memory/owners.h"

#include "bucket/bucket.h"
#include "sys/os.h"
#include "sys/scale.h"

#include <errno.h>
#include <string.h>

// --- chunks ---
//
// A heap consists of chunks. The second word of a chunk is its size. The low
// bits of this word are flags. The next chunk follows directly, and its flag
// IN_USE_BEFORE tells whether this chunk is in use.

enum {
  IN_USE_BEFORE = 1, // the previous chunk is in use
  MMAPPED = 2,       // the chunk is a mapping of its own
  OTHER_ARENA = 4,   // the chunk does not belong to the main arena
  FLAGS = 7,
};
enum { WORD = sizeof(uintptr_t), UNIT = 2 * WORD, MIN_CHUNK = 2 * UNIT };

static uintptr_t size_word(struct mprof_process *p, uintptr_t chunk) {
  return mprof_process_word(p, chunk + WORD);
}

static uint64_t resident(struct mprof_process *p, uintptr_t start,
                         uintptr_t limit) {
  return mprof_process_pages(p, start, limit).rss;
}

// --- caches of threads (glibc: tcache) ---
//
// A cache is itself a chunk. It has the number of freed chunks of each of 64
// sizes, and then the addresses of the first ones (glibc from 2.30 to 2.41).
// The cached chunks are marked as in use.

enum { LISTS = 64, CACHE_CHUNK = 0x290 };
// The lists of an arena, and the largest chunk in them. Unless the program asks
// for more, it has 0x80 bytes.
enum { FAST = 10, LARGEST_FAST = MIN_CHUNK + (FAST - 1) * UNIT };

// Returns whether a chunk begins here that has this size.
static bool is_chunk(struct mprof_process *p, uintptr_t at, uintptr_t size) {
  return at % UNIT == 0 && (size_word(p, at) & ~(uintptr_t)FLAGS) == size;
}

// Returns the chunk to which the first word of a freed block leads, or 0. glibc
// from 2.32 on XORs the word with its address, shifted right by 12. The result
// may be invalid. size: that of all chunks in the list; header: the difference
// between the address in the word and that of the chunk.
static uintptr_t next_freed(struct mprof_process *p, uintptr_t block,
                            uintptr_t size, uintptr_t header) {
  const uintptr_t word = mprof_process_word(p, block),
                  next = word ^ block >> 12;
  if (word == 0 || next == 0)
    return 0;
  return is_chunk(p, next - header, size) ? next - header : word - header;
}

// Alignment of the heaps of all arenas but the main one.
#define HEAP_ALIGNMENT ((uintptr_t)64 << 20)

// Returns whether the address may be in the arena of h, whose heaps lie near to
// each other. NEAR is so that a block's pointer to such a heap, taken for a
// link, leads elsewhere: bit 46 of the block's own address changes bit 34. If
// the heaps lie on both sides of a multiple of 2^NEAR, the first word of a
// heap, which is the address of its arena, tells.
static bool may_be_in_arena(struct mprof_process *p,
                            const struct mprof_glibc_heap *h, uintptr_t at) {
  enum { NEAR = 34, NEXT = 32 };
  if (h->arena == 0)
    return at >= h->start && at < h->limit;
  if ((at ^ h->start) >> NEAR == 0)
    return true;
  const uintptr_t distance = at > h->start ? at - h->start : h->start - at;
  return distance >> NEXT == 0 &&
         mprof_process_word(p, at & -(uintptr_t)HEAP_ALIGNMENT) ==
             mprof_process_word(p, h->start);
}

// Returns whether a chunk of h has a link of glibc from 2.32 on to a chunk of
// the arena, or to none. Blocks in use almost never look so, because the link
// depends on its own address. A block whose first word was not written since
// malloc looks as it did when it was free.
static bool looks_freed(struct mprof_process *p,
                        const struct mprof_glibc_heap *h, uintptr_t chunk) {
  const uintptr_t block = chunk + UNIT,
                  next = mprof_process_word(p, block) ^ block >> 12;
  return next == 0 || (next % UNIT == 0 && may_be_in_arena(p, h, next));
}

// Adds the address of a cached chunk to a table, which may be NULL.
static void keep_cached(struct mprof_pc_table *cached, uintptr_t chunk) {
  if (cached != NULL)
    mprof_pc_table_get(cached, (mprof_pc)chunk);
}

// Returns the chunks that the cache has; none if the chunk is no cache. cached:
// gets the chunks; or NULL. A block of the same size may have any bytes, so the
// first chunk of each list must have the right size.
static struct mprof_glibc_chunks cached_chunks(struct mprof_process *p,
                                               uintptr_t chunk,
                                               struct mprof_pc_table *cached) {
  const uintptr_t counts = chunk + UNIT,
                  lists = counts + LISTS * sizeof(uint16_t);
  struct mprof_glibc_chunks sum = {0};
  for (unsigned i = 0; i < LISTS; i++) {
    const uintptr_t word =
        mprof_process_word(p, counts + i * sizeof(uint16_t) / WORD * WORD);
    const uint64_t n = word >> (i % 4 * 16) & 0xffff;
    const uintptr_t first = mprof_process_word(p, lists + i * WORD),
                    size = MIN_CHUNK + i * UNIT;
    if ((n == 0) != (first == 0) ||
        (first != 0 && !is_chunk(p, first - UNIT, size)))
      return (struct mprof_glibc_chunks){0};
    sum.bytes += n * size;
    sum.count += n;
    uintptr_t at = first - UNIT;
    for (uint64_t k = 0; cached != NULL && k < n && is_chunk(p, at, size);
         k++) {
      keep_cached(cached, at);
      at = next_freed(p, at + UNIT, size, UNIT);
    }
  }
  return sum;
}

// --- holes ---
//
// Charges the free bytes of each page to the blocks in it; see owners.h.

// Returns the keeper of a stack; NULL: there is no memory.
static struct mprof_keeper *keeper_of(struct mprof_holes *h,
                                      const struct mprof_bucket *stack) {
  struct mprof_pc_slot *s =
      mprof_pc_table_get(&h->by_stack, (mprof_pc)(uintptr_t)stack);
  if (s == NULL)
    return NULL;
  if (s->value == 0) {
    if (!mprof_process_grow((void **)&h->keepers, &h->keepers_bytes,
                            h->len * sizeof(h->keepers[0]),
                            sizeof(h->keepers[0])))
      return NULL;
    h->keepers[h->len++] = (struct mprof_keeper){
        .stack = stack, .factor = mprof_scale_factor(stack->size, stack->rate)};
    s->value = h->len;
  }
  return &h->keepers[s->value - 1];
}

// Charges a block, of which the present page has `bytes` bytes, with its share
// of the page's free bytes.
static void charge(struct mprof_holes *h, const struct mprof_page_block *b) {
  const struct mprof_bucket *stack = h->stack_of(b->block);
  struct mprof_keeper *k = stack != NULL ? keeper_of(h, stack) : NULL;
  if (k == NULL)
    return;
  // A page has 2^12 bytes, so no product is above 2^34.
  const uint64_t bytes = b->bytes << MPROF_KEEPER_SHIFT;
  k->used += mprof_mul_div(bytes, k->factor, MPROF_SCALE_ONE, 0);
  k->kept +=
      mprof_mul_div(h->free * bytes / h->used, k->factor, MPROF_SCALE_ONE, 0);
}

// Ends the last page of a heap.
static void end_page(struct mprof_holes *h) {
  const uintptr_t limit = h->page + MPROF_PAGE;
  if (h->used > 0 && h->free > 0 &&
      mprof_process_pages(h->process, h->page, limit).rss > 0)
    for (size_t i = 0; i < h->blocks_len; i++)
      charge(h, &h->blocks[i]);
  h->used = h->free = 0;
  h->blocks_len = 0;
}

// Adds the part [start, limit) of a chunk, which lies in one page.
static void add_part(struct mprof_holes *h, uintptr_t start, uintptr_t limit,
                     uintptr_t block) {
  const uintptr_t page = start & -(uintptr_t)MPROF_PAGE;
  if (page != h->page)
    end_page(h);
  h->page = page;
  if (block == 0) {
    h->free += limit - start;
    return;
  }
  h->used += limit - start;
  if (h->blocks_len < MPROF_PAGE_BLOCKS)
    h->blocks[h->blocks_len++] =
        (struct mprof_page_block){block, limit - start};
}

// Adds the chunk [start, limit), unless it is in h->cached. Chunks are added in
// the order of their addresses. block: address of the block in the chunk; 0:
// the chunk is free. Of a chunk in several pages, only the first and the last
// page have other chunks.
static void add_chunk(struct mprof_holes *h, uintptr_t start, uintptr_t limit,
                      uintptr_t block) {
  const uintptr_t first_end = (start & -(uintptr_t)MPROF_PAGE) + MPROF_PAGE,
                  last = (limit - 1) & -(uintptr_t)MPROF_PAGE;
  if (block != 0 && mprof_pc_table_has(&h->cached, (mprof_pc)start))
    return;
  add_part(h, start, limit < first_end ? limit : first_end, block);
  if (limit > first_end)
    add_part(h, last, limit, block);
}

void mprof_holes_free(struct mprof_holes *h) {
  if (h->keepers_bytes > 0)
    mprof_os_unmap(h->keepers, h->keepers_bytes);
  mprof_pc_table_free(&h->by_stack);
  mprof_pc_table_free(&h->cached);
}

// --- a walk ---

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Moves chunks from the blocks in use to the cached ones, as far as there are
// as many in use.
static void move_cached(struct mprof_glibc_heap *h,
                        struct mprof_glibc_chunks c) {
  const uint64_t bytes = least(c.bytes, h->resident[MPROF_HEAP_USED]);
  h->resident[MPROF_HEAP_USED] -= bytes;
  h->resident[MPROF_HEAP_CACHED] += bytes;
  h->blocks -= least(c.count, h->blocks);
}

static bool add_block(struct mprof_glibc_block **v, size_t *len, size_t *bytes,
                      const struct mprof_glibc_block *b) {
  if (!mprof_process_grow((void **)v, bytes, *len * sizeof(*b), sizeof(*b)))
    return false;
  (*v)[(*len)++] = *b;
  return true;
}

// Returns the resident bytes of the whole pages in the free chunk [at, next),
// which malloc can give back.
static uint64_t whole_pages(struct mprof_process *p, uintptr_t at,
                            uintptr_t next) {
  const uintptr_t from = (at + MIN_CHUNK + MPROF_PAGE - 1) &
                         -(uintptr_t)MPROF_PAGE,
                  to = next & -(uintptr_t)MPROF_PAGE;
  return from < to ? resident(p, from, to) : 0;
}

// Walks the chunks from `first` to the end of h, and sums up their bytes.
// Returns the address of the first invalid chunk, or h->limit. The heap may
// have grown since its limit was read, so the last chunk may end behind it.
// g: gets the large chunks, from index first_large on, and the cached ones; or
// NULL. holes: gets all chunks; or NULL.
static uintptr_t walk(struct mprof_glibc *g, struct mprof_process *p,
                      struct mprof_glibc_heap *h, uintptr_t first,
                      size_t first_large, struct mprof_holes *holes) {
  const uintptr_t end = h->limit;
  struct mprof_glibc_chunks cached = {0};
  memset(h->resident, 0, sizeof(h->resident));
  h->free_pages = h->blocks = 0;
  h->looks_fast = (struct mprof_glibc_chunks){0};
  h->resident[MPROF_HEAP_OWN] = resident(p, h->start, first);
  unsigned long chunks = 0;
  if (g != NULL)
    g->large_len = first_large;
  for (uintptr_t at = first, next; at < end; at = next, chunks++) {
    const uintptr_t word = size_word(p, at), size = word & ~(uintptr_t)FLAGS;
    // An arena's old heap ends with two chunks that are smaller than MIN_CHUNK.
    if (h->arena != 0 && end - at <= MIN_CHUNK && size <= UNIT) {
      h->resident[MPROF_HEAP_OWN] += resident(p, at, end);
      break;
    }
    if (size < MIN_CHUNK || size % UNIT != 0 || (word & MMAPPED) ||
        (h->arena == 0 && (word & OTHER_ARENA)) ||
        (size > end - at && (chunks < 2 || size >> 40 != 0)))
      return at;
    next = size > end - at ? end : at + size;
    enum mprof_heap_sort sort = MPROF_HEAP_TOP;
    if (next < end)
      sort = size_word(p, next) & IN_USE_BEFORE ? MPROF_HEAP_USED
                                                : MPROF_HEAP_LISTED;
    else
      h->top = at;
    const uint64_t rss = resident(p, at, next);
    h->resident[sort] += rss;
    h->blocks += sort == MPROF_HEAP_USED;
    if (sort == MPROF_HEAP_LISTED && size >= MPROF_PAGE)
      h->free_pages += least(whole_pages(p, at, next), rss);
    // Without memory, fewer stacks tell how much of their blocks is resident.
    if (g != NULL && sort == MPROF_HEAP_USED && size >= 2 * MPROF_PAGE)
      add_block(&g->large, &g->large_len, &g->large_bytes,
                &(struct mprof_glibc_block){at, next, at + UNIT});
    const bool is_fast = sort == MPROF_HEAP_USED && size <= LARGEST_FAST &&
                         looks_freed(p, h, at);
    if (is_fast) {
      h->looks_fast.bytes += size;
      h->looks_fast.count++;
    }
    if (holes != NULL && sort != MPROF_HEAP_TOP &&
        !(is_fast && h->has_long_lists))
      add_chunk(holes, at, next, sort == MPROF_HEAP_USED ? at + UNIT : 0);
    if (size == CACHE_CHUNK && sort == MPROF_HEAP_USED) {
      const struct mprof_glibc_chunks of_thread =
          cached_chunks(p, at, g != NULL ? g->cached : NULL);
      cached.bytes += of_thread.bytes;
      cached.count += of_thread.count;
    }
  }
  h->is_walked = true;
  h->first = first;
  move_cached(h, cached);
  return end;
}

// Finds the first chunk of a heap, and walks it. Tries several addresses for
// the first chunk, because libc may have used the beginning of this memory
// before malloc did. A walk that ends far from its begin has followed real
// chunks, so no other begin is better.
static bool walk_from(struct mprof_glibc *g, struct mprof_process *p,
                      struct mprof_glibc_heap *h, uintptr_t from) {
  enum { FIRST_AT = MPROF_PAGE, TRIES = 3 };
  const size_t first_large = g->large_len;
  for (int i = 0; i < TRIES; i++) {
    for (uintptr_t first = from; first < h->limit && first - from < FIRST_AT;
         first += UNIT) {
      const uintptr_t last = walk(g, p, h, first, first_large, NULL);
      if (last == h->limit)
        return true;
      if (last - from > 2 * FIRST_AT)
        break;
    }
    mprof_process_forget(p);
  }
  g->large_len = first_large;
  return false;
}

uint64_t mprof_glibc_kept(const struct mprof_glibc_heap *h) {
  const uint64_t *r = h->resident;
  return r[MPROF_HEAP_USED] + r[MPROF_HEAP_OWN] +
         least(r[MPROF_HEAP_LISTED] - h->free_pages + r[MPROF_HEAP_CACHED],
               h->blocks * MPROF_PAGE);
}

void mprof_glibc_add_holes(const struct mprof_glibc_heap *h,
                           struct mprof_holes *holes) {
  struct mprof_glibc_heap again = *h;
  if (!h->is_walked)
    return;
  walk(NULL, holes->process, &again, h->first, 0, holes);
  end_page(holes);
}

static bool add_heap(struct mprof_glibc *g, const struct mprof_glibc_heap *h) {
  if (!mprof_process_grow((void **)&g->heaps, &g->heaps_bytes,
                          g->heaps_len * sizeof(*h), sizeof(*h)))
    return false;
  g->heaps[g->heaps_len++] = *h;
  return true;
}

// --- arenas other than the main arena ---
//
// The heaps of such an arena begin at multiples of HEAP_ALIGNMENT, with the
// address of the arena, the address of the arena's previous heap, and the
// number of bytes in use. In the arena's first heap, the arena itself follows.

enum { HEADER = 32, USED_AT = 16 };

// Returns the number of the arena, from 1. A new one is added to the list.
static unsigned arena_number(struct mprof_glibc *g, uintptr_t arena) {
  for (size_t i = 1; i < g->arenas_len; i++)
    if (g->arenas[i] == arena)
      return (unsigned)i;
  if (!mprof_process_grow((void **)&g->arenas, &g->arenas_bytes,
                          g->arenas_len * sizeof(arena), sizeof(arena)))
    return 0;
  g->arenas[g->arenas_len] = arena;
  return (unsigned)g->arenas_len++;
}

// Adds the heap that begins at `at`, if there is one. Returns -ENOMEM or 0.
static int find_arena_heap(struct mprof_glibc *g, struct mprof_process *p,
                           const struct mprof_mapped *m, uintptr_t at) {
  const uintptr_t arena = mprof_process_word(p, at),
                  used = mprof_process_word(p, at + USED_AT);
  if (arena == 0 || arena % UNIT != 0 || used < MPROF_PAGE ||
      used % UNIT != 0 || used > HEAP_ALIGNMENT ||
      mprof_process_at(p, arena) == NULL)
    return 0;
  // The heap may have grown since the mappings were read.
  const uintptr_t mapped = m->limit - at;
  struct mprof_glibc_heap h = {
      .start = at, .limit = at + (used < mapped ? used : mapped), .arena = 1};
  if (!walk_from(g, p, &h, at + HEADER)) {
    // Only an arena's first heap shows by itself that it is one.
    if (arena != at + HEADER && arena != at + HEADER + UNIT)
      return 0;
    memset(h.resident, 0, sizeof(h.resident));
    h.resident[MPROF_HEAP_USED] = resident(p, h.start, h.limit);
  }
  h.arena = arena_number(g, arena);
  return h.arena != 0 && add_heap(g, &h) ? 0 : -ENOMEM;
}

// --- blocks that are mappings of their own ---

// An aligned block may begin in a later page than its mapping. The word before
// the size then is the distance of the chunk from the begin of the mapping.

// Returns whether a block's chunk is at `chunk`, and stores the block in *b.
// start, limit: of the mappings without a gap around it.
static bool block_at(struct mprof_process *p, uintptr_t chunk, uintptr_t start,
                     uintptr_t limit, struct mprof_glibc_block *b) {
  const uintptr_t word = size_word(p, chunk), size = word & ~(uintptr_t)FLAGS;
  if ((word & FLAGS) != MMAPPED || size == 0 || size > limit - chunk)
    return false;
  const uintptr_t before = mprof_process_word(p, chunk);
  if (before > chunk - start || (chunk - before) % MPROF_PAGE != 0 ||
      (before + size) % MPROF_PAGE != 0 ||
      (chunk % MPROF_PAGE == 0 && before != 0))
    return false;
  *b = (struct mprof_glibc_block){chunk - before, chunk + size, chunk + UNIT};
  return true;
}

// A search of a mapping for blocks.
struct search {
  // The mappings without a gap around this one, because madvise and mlock split
  // mappings.
  uintptr_t start, end;
  // Number of resident pages that may still be read, in all mappings.
  size_t *pages;
  // Number of other pages that may still be skipped, because a mapping may be a
  // huge reservation.
  size_t others;
};

// Finds the chunk of a block whose mapping begins in the page at `at`.
static bool block_in(struct mprof_process *p, uintptr_t at,
                     const struct search *s, struct mprof_glibc_block *b) {
  // memalign leaves the chunk of its mapping there, so the chunk of the aligned
  // block comes first.
  uintptr_t alignment = MPROF_PAGE;
  while (alignment >= UNIT &&
         !block_at(p, at + alignment - UNIT, s->start, s->end, b))
    alignment /= 2;
  return alignment >= UNIT;
}

// Searches [at, limit) of a mapping, which is no heap, for the chunks of
// blocks. The kernel merges adjacent mappings, so a block may begin at any
// page.
static int find_blocks(struct mprof_glibc *g, struct mprof_process *p,
                       struct search *s, uintptr_t at, uintptr_t limit) {
  while (at < limit && *s->pages > 0 && s->others > 0) {
    struct mprof_glibc_block b;
    while (g->ranges < g->ranges_end && g->ranges->limit <= at)
      g->ranges++;
    if (g->ranges < g->ranges_end && g->ranges->start <= at) {
      at = g->ranges->limit;
      continue;
    }
    const bool is_resident = resident(p, at, at + MPROF_PAGE) != 0;
    --*(is_resident ? s->pages : &s->others);
    if (!is_resident || !block_in(p, at, s, &b)) {
      at += MPROF_PAGE;
      continue;
    }
    if (!add_block(&g->blocks, &g->blocks_len, &g->blocks_bytes, &b))
      return -ENOMEM;
    at = b.limit;
  }
  return 0;
}

// Returns the end of the last heap or block that begins at or after `at`; `at`
// if there is none.
static uintptr_t end_of_last(const struct mprof_glibc *g, uintptr_t at) {
  if (g->heaps_len > 0 && g->heaps[g->heaps_len - 1].limit > at)
    at = g->heaps[g->heaps_len - 1].limit;
  if (g->blocks_len > 0 && g->blocks[g->blocks_len - 1].limit > at)
    at = g->blocks[g->blocks_len - 1].limit;
  return at;
}

// Returns whether b may be a part of the same mapping as a.
static bool continues(const struct mprof_process *p,
                      const struct mprof_mapped *a,
                      const struct mprof_mapped *b) {
  return a->limit == b->start && a->inode == 0 && b->inode == 0 &&
         a->is_writable && b->is_writable && !a->is_shared && !b->is_shared &&
         *mprof_process_name(p, a) == '\0' && *mprof_process_name(p, b) == '\0';
}

// Finds the heaps and blocks in a mapping without a name. Mappings are searched
// in the order of their addresses.
static int find_in(struct mprof_glibc *g, struct mprof_process *p,
                   const struct mprof_mapped *m, size_t *pages) {
  const struct mprof_mapped *first = m, *last = m,
                            *end = p->mappings + p->mappings_len;
  enum { AROUND = 64 }; // mappings, so that many of them take linear time
  int error = 0;
  while (first > p->mappings && m - first < AROUND &&
         continues(p, first - 1, first))
    first--;
  while (last + 1 < end && last - m < AROUND && continues(p, last, last + 1))
    last++;
  struct search s = {first->start, last->limit, pages, 1 << 20};
  for (uintptr_t at = m->start, next; at < m->limit && error == 0; at = next) {
    next = (at & -HEAP_ALIGNMENT) + HEAP_ALIGNMENT;
    next = next < m->limit && next > at ? next : m->limit;
    if (at % HEAP_ALIGNMENT == 0)
      error = find_arena_heap(g, p, m, at);
    at = end_of_last(g, at);
    if (error == 0 && at < next)
      error = find_blocks(g, p, &s, at, next);
    next = end_of_last(g, next);
  }
  return error;
}

// --- the lists of an arena ---
//
// An arena has FAST list heads (fastbinsY), the address of the last chunk
// (top), that of the chunk that was split last, and then BINS list heads of two
// words each (bins). A head in bins points to itself while its list is empty.
// The chunks in fastbinsY are marked as in use.

enum { BINS = 127 };

static bool is_arena(struct mprof_process *p, uintptr_t bins) {
  for (uintptr_t at = bins; at < bins + (uintptr_t)BINS * UNIT; at += UNIT) {
    const uintptr_t first = mprof_process_word(p, at),
                    last = mprof_process_word(p, at + WORD);
    if (first == 0 || (first == at - UNIT) != (last == at - UNIT))
      return false;
  }
  return true;
}

// Returns the address of fastbinsY of the main arena, whose last chunk is at
// `top`, or 0. The arena is in the initialized data of libc, or of the program
// if libc is linked into it. A larger mapping is a file that the program reads.
static uintptr_t find_main_arena(struct mprof_process *p, uintptr_t top) {
  enum { LARGEST = 64 << 20 };
  for (size_t i = 0; i < p->mappings_len; i++) {
    const struct mprof_mapped *m = &p->mappings[i];
    if (!m->is_writable || m->is_shared || m->inode == 0 ||
        m->limit - m->start > LARGEST)
      continue;
    for (uintptr_t at = m->start + FAST * WORD;
         at + 2 * WORD + BINS * UNIT <= m->limit; at += WORD)
      if (mprof_process_word(p, at) == top && is_arena(p, at + 2 * WORD))
        return at - FAST * WORD;
  }
  return 0;
}

// Returns the chunks in fastbinsY. *steps: the number of chunks that may still
// be followed. *is_old: set if a link is not one of glibc from 2.32 on. cached:
// gets the chunks; or NULL.
static struct mprof_glibc_chunks fast_chunks(struct mprof_process *p,
                                             uintptr_t fast, size_t *steps,
                                             bool *is_old,
                                             struct mprof_pc_table *cached) {
  struct mprof_glibc_chunks sum = {0};
  for (unsigned i = 0; i < FAST; i++) {
    const uintptr_t size = MIN_CHUNK + (uintptr_t)i * UNIT;
    uintptr_t chunk = mprof_process_word(p, fast + i * WORD);
    for (; chunk != 0 && *steps > 0; --*steps) {
      if (!is_chunk(p, chunk, size))
        break;
      sum.bytes += size;
      sum.count++;
      keep_cached(cached, chunk);
      const uintptr_t next = next_freed(p, chunk + UNIT, size, 0);
      *is_old |= next != 0 && next == mprof_process_word(p, chunk + UNIT);
      chunk = next;
    }
  }
  return sum;
}

// Counts the chunks of all lists of an arena by the links that the walks have
// seen.
static void count_by_links(struct mprof_glibc *g, unsigned arena) {
  for (size_t i = 0; i < g->heaps_len; i++) {
    struct mprof_glibc_heap *h = &g->heaps[i];
    if (!h->is_walked || h->arena != arena)
      continue;
    h->has_long_lists = true;
    move_cached(h, h->looks_fast);
  }
}

// Each chunk of a list may be in another page, so following lists of many
// chunks takes seconds. Only some chunks of each arena, and of all arenas, are
// followed, if the links show that the others can be counted without that.
static void count_fast(struct mprof_glibc *g, struct mprof_process *p) {
  enum { ARENA_FAST_AT = 16 }; // after a lock and two flags
  enum { MOST = 1 << 14, LEAST = 64 };
  size_t rest = 1 << 16, rest_of_old = 1 << 20;
  for (size_t i = 0; i < g->heaps_len; i++) {
    struct mprof_glibc_heap *h = &g->heaps[i];
    if (!h->is_walked)
      continue;
    uintptr_t fast = 0;
    if (h->arena == 0)
      fast = find_main_arena(p, h->top);
    else if (mprof_process_word(p, h->start) - h->start < HEAP_ALIGNMENT)
      fast = mprof_process_word(p, h->start) + ARENA_FAST_AT;
    if (fast == 0)
      continue;
    const size_t most = rest < LEAST ? LEAST : least(rest, MOST);
    size_t steps = most;
    bool is_old = false;
    struct mprof_glibc_chunks c =
        fast_chunks(p, fast, &steps, &is_old, g->cached);
    rest -= least(rest, most - steps);
    if (steps == 0 && !is_old) {
      count_by_links(g, h->arena);
      continue;
    }
    if (steps == 0)
      c = fast_chunks(p, fast, &rest_of_old, &is_old, g->cached);
    move_cached(h, c);
  }
}

// --- all heaps ---

// Adds the heap of the main arena, which grows by brk.
static int find_main_heap(struct mprof_glibc *g, struct mprof_process *p,
                          const struct mprof_mapped *m) {
  struct mprof_glibc_heap h = {.start = m->start, .limit = m->limit};
  return !walk_from(g, p, &h, m->start) || add_heap(g, &h) ? 0 : -ENOMEM;
}

int mprof_glibc_find(struct mprof_glibc *g, struct mprof_process *p,
                     struct mprof_pc_table *cached) {
  g->arenas_len = 1;
  g->cached = cached;
  size_t pages = 65536;
  int error = mprof_process_grow((void **)&g->arenas, &g->arenas_bytes, 0,
                                 sizeof(g->arenas[0]))
                  ? 0
                  : -ENOMEM;
  for (size_t i = 0; i < p->mappings_len && error == 0; i++) {
    const struct mprof_mapped *m = &p->mappings[i];
    if (!m->is_readable || !m->is_writable || m->is_shared || m->inode != 0 ||
        m->usage.rss == 0)
      continue;
    const char *name = mprof_process_name(p, m);
    if (strcmp(name, "[heap]") == 0)
      error = find_main_heap(g, p, m);
    else if (*name == '\0' || strncmp(name, "[anon:", 6) == 0)
      error = find_in(g, p, m, &pages);
  }
  if (error == 0)
    count_fast(g, p);
  return error;
}

void mprof_glibc_free(struct mprof_glibc *g) {
  if (g->heaps_bytes > 0)
    mprof_os_unmap(g->heaps, g->heaps_bytes);
  if (g->blocks_bytes > 0)
    mprof_os_unmap(g->blocks, g->blocks_bytes);
  if (g->large_bytes > 0)
    mprof_os_unmap(g->large, g->large_bytes);
  if (g->arenas_bytes > 0)
    mprof_os_unmap(g->arenas, g->arenas_bytes);
  *g = (struct mprof_glibc){0};
}
