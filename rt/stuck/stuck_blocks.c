// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the blocks of glibc's malloc; see stuck_memory.h. Walks the heaps, and
// then removes the data of malloc that point to free chunks from the search:
// the main arena, and the freed chunks in the caches of threads.

#include "stuck/stuck_memory.h"

#include "sys/os.h"
#include "sys/sort.h"
#include "thread/threads.h"

#include <errno.h>
#include <sys/syscall.h>

enum { WORD = sizeof(uintptr_t) };

// --- glibc's heaps ---
// A heap consists of chunks. The second word of a chunk is its size. The low
// bits of this word are flags. Flag 1: the previous chunk is in use. Flag 2:
// the chunk is a mapping of its own. Flag 4: the chunk does not belong to the
// main arena. The next chunk follows directly. The last chunk of a heap is
// free.

enum {
  IN_USE_BEFORE = 1,
  MMAPPED = 2,
  OTHER_ARENA = 4,
  FLAGS = MPROF_CHUNK_FLAGS,
};
enum { MIN_CHUNK = 32 };

// Walks the chunks of malloc in the range [first, end). If a chunk is invalid,
// returns the address of this chunk. If all chunks are valid, the range is a
// heap, and the function returns `end`. When an arena other than the main arena
// continues in a new heap, the arena's old heap ends with two chunks that are
// smaller than MIN_CHUNK. The function accepts these two chunks.
static uintptr_t walk(struct mprof_memory *m, uintptr_t first, uintptr_t end,
                      bool is_main) {
  uintptr_t p = first;
  for (; p < end; m->steps++) {
    const uintptr_t word = mprof_memory_word_at(p + WORD),
                    size = word & ~(uintptr_t)FLAGS;
    if (!is_main && end - p <= MIN_CHUNK && size <= MPROF_CHUNK_UNIT)
      return end;
    if (size < MIN_CHUNK || size % MPROF_CHUNK_UNIT != 0 || size > end - p ||
        (word & MMAPPED) || (is_main && (word & OTHER_ARENA)))
      return p;
    p += size;
  }
  return p;
}

static bool add_blocks(struct mprof_memory *m, const struct mprof_blocks *b) {
  if (m->blocks_len == m->blocks_cap)
    return false;
  m->blocks[m->blocks_len++] = *b;
  return true;
}

static void clear_bit(uint64_t *bits, size_t i) {
  bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static bool add_heap(struct mprof_memory *m, uintptr_t first, uintptr_t end,
                     bool is_main) {
  const size_t bytes = (end - first) / MPROF_CHUNK_UNIT / 8 + 8;
  struct mprof_blocks b = {.start = first, .limit = end};
  b.starts = mprof_os_map(2 * bytes);
  if (!b.starts || !add_blocks(m, &b))
    return false;
  b.marks = (uint64_t *)((char *)b.starts + bytes / 8 * 8);
  m->blocks[m->blocks_len - 1].marks = b.marks;
  for (uintptr_t p = first; p < end;) {
    const uintptr_t size = mprof_chunk_size(p);
    const uintptr_t next = p + size;
    if (size < MIN_CHUNK || next >= end) {
      if (is_main)
        m->main_top = p;
      break;
    }
    if (mprof_memory_word_at(next + WORD) & IN_USE_BEFORE) {
      mprof_bit_set(b.starts, (p - first) / MPROF_CHUNK_UNIT);
      m->todo_cap++;
    }
    p = next;
  }
  mprof_memory_cut(m, first, end);
  return true;
}

// Finds the first chunk of a heap, and adds the heap. Tries several addresses
// for the first chunk, because libc may have used the beginning of this memory
// before malloc did. If a walk ends at an invalid chunk far from start, it has
// followed real chunks. A walk from another address would end at the same
// chunk, so no more addresses are tried.
static bool find_heap(struct mprof_memory *m, uintptr_t start, uintptr_t end,
                      bool is_main) {
  enum { FIRST_AT = MPROF_PAGE };
  for (uintptr_t p = start; p < end && p - start < FIRST_AT;
       p += MPROF_CHUNK_UNIT) {
    const uintptr_t last = walk(m, p, end, is_main);
    if (last == end)
      return add_heap(m, p, end, is_main);
    if (last - start > 2 * FIRST_AT)
      return false;
  }
  return false;
}

// Heaps of arenas other than the main arena begin at multiples of
// HEAP_ALIGNMENT. A heap's header contains the address of the arena, the
// address of the arena's previous heap, and the number of bytes in use. In the
// arena's first heap, the arena itself follows the header.
//
// Headers and arenas are not searched, because they contain addresses of free
// chunks. The address of a free chunk is also the address of the last word of
// the previous chunk. If the previous chunk is in use, the search would wrongly
// reach that chunk.
#define HEAP_ALIGNMENT ((uintptr_t)64 << 20)

static bool find_arena_heap(struct mprof_memory *m,
                            const struct mprof_area *a) {
  enum { HEADER = 32, USED_AT = 16 };
  if (a->start % HEAP_ALIGNMENT != 0)
    return false;
  const uintptr_t used = mprof_memory_word_at(a->start + USED_AT);
  if (used < MPROF_PAGE || used % MPROF_CHUNK_UNIT != 0 ||
      used > a->limit - a->start)
    return false;
  if (!find_heap(m, a->start + HEADER, a->start + used, false))
    return false;
  mprof_memory_cut(m, a->start, a->start + used);
  return true;
}

// The main arena is in libc's data. It consists of FREED list heads
// (fastbinsY), the address of the last chunk (top), the address of the chunk
// that was split last (last_remainder), and ENDS list heads of two words each
// (bins). A head in bins points to itself while its list is empty.
enum { FREED = 10, ENDS = 127 };

static bool is_arena(uintptr_t ends) {
  for (uintptr_t p = ends; p < ends + ENDS * MPROF_CHUNK_UNIT;
       p += MPROF_CHUNK_UNIT) {
    const uintptr_t first = mprof_memory_word_at(p),
                    last = mprof_memory_word_at(p + WORD);
    if (first == 0 ||
        (first == p - MPROF_CHUNK_UNIT) != (last == p - MPROF_CHUNK_UNIT))
      return false;
  }
  return true;
}

static void cut_arena(struct mprof_memory *m, uintptr_t start,
                      uintptr_t limit) {
  for (uintptr_t p = start; p < limit; p += WORD) {
    const uintptr_t ends = p + 2 * WORD, after = ends + ENDS * MPROF_CHUNK_UNIT;
    const struct mprof_area *a = mprof_memory_area(m, p);
    if (mprof_memory_word_at(p) == m->main_top && a && after <= a->limit &&
        is_arena(ends)) {
      mprof_memory_cut(m, p - FREED * WORD, after);
      return;
    }
  }
}

static void find_main_arena(struct mprof_memory *m) {
  if (m->main_top == 0)
    return;
  for (size_t i = 0; i < m->areas_len; i++) {
    const struct mprof_area a = m->areas[i];
    if (!a.is_unnamed && !a.is_hidden && !a.is_shared && !a.is_stack)
      mprof_memory_each_page(m, a.start, a.limit, cut_arena);
  }
}

// Finds the heap that ends at the program break, in an emulated process. The
// emulator gives the heap no name. Its area may begin with data of the program.
static void find_unnamed_heap(struct mprof_memory *m,
                              const struct mprof_area *a) {
  const uintptr_t end = (uintptr_t)mprof_syscall(SYS_brk, 0, 0, 0, 0, 0, 0);
  if (end > a->start && end <= a->limit)
    for (uintptr_t at = a->start; at < end; at += MPROF_PAGE)
      if (find_heap(m, at, end, true))
        return;
}

// Finds malloc's blocks that are mappings of their own. The kernel may have
// merged several of these mappings, so an area may contain several blocks.
static void find_mapped(struct mprof_memory *m, struct mprof_area a) {
  while (a.limit - a.start >= MPROF_PAGE) {
    const uintptr_t word = mprof_memory_word_at(a.start + WORD);
    const uintptr_t size = word & ~(uintptr_t)FLAGS;
    const struct mprof_blocks b = {.start = a.start, .limit = a.start + size};
    if (mprof_memory_word_at(a.start) != 0 || (word & FLAGS) != MMAPPED ||
        size == 0 || size % MPROF_PAGE != 0 || size > a.limit - a.start ||
        !add_blocks(m, &b))
      return;
    m->todo_cap++;
    mprof_memory_cut(m, a.start, a.start + size);
    a.start += size;
  }
}

static bool comes_first(const void *a, const void *b) {
  const struct mprof_blocks *x = a, *y = b;
  return x->start < y->start;
}

static int sort_blocks(struct mprof_memory *m) {
  struct mprof_blocks **v = mprof_os_map((m->blocks_len + 1) * sizeof(*v));
  struct mprof_blocks *sorted =
      mprof_os_map((m->blocks_len + 1) * sizeof(*sorted));
  if (!v || !sorted)
    return -ENOMEM;
  for (size_t i = 0; i < m->blocks_len; i++)
    v[i] = &m->blocks[i];
  mprof_sort((void **)v, m->blocks_len, comes_first);
  for (size_t i = 0; i < m->blocks_len; i++)
    sorted[i] = *v[i];
  m->blocks = sorted;
  if (m->blocks_len > 0) {
    m->low = sorted[0].start;
    m->high = sorted[m->blocks_len - 1].limit;
  }
  return 0;
}

// --- blocks by address ---

struct mprof_blocks *mprof_memory_blocks_at(const struct mprof_memory *m,
                                            uintptr_t addr) {
  size_t low = 0, high = m->blocks_len;
  if (addr < m->low || addr >= m->high)
    return NULL;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (m->blocks[middle].limit <= addr)
      low = middle + 1;
    else
      high = middle;
  }
  struct mprof_blocks *b = &m->blocks[low];
  return low < m->blocks_len && b->start <= addr ? b : NULL;
}

size_t mprof_memory_chunk_of(const struct mprof_blocks *b, uintptr_t addr,
                             size_t *steps) {
  if (addr - b->start < WORD)
    return MPROF_NO_CHUNK;
  size_t i = (addr - WORD - b->start) / MPROF_CHUNK_UNIT;
  size_t word = i / 64;
  uint64_t bits = b->starts[word] << (63 - i % 64) >> (63 - i % 64);
  for (*steps += 1; bits == 0 && word > 0; *steps += 1)
    bits = b->starts[--word];
  if (bits == 0)
    return MPROF_NO_CHUNK;
  i = word * 64 + (63 - (size_t)__builtin_clzll(bits));
  const uintptr_t chunk = b->start + i * MPROF_CHUNK_UNIT;
  return addr < chunk + mprof_chunk_size(chunk) + WORD ? i : MPROF_NO_CHUNK;
}

// --- freed chunks in per-thread caches, which are marked as in use ---
// Each thread has a cache of freed chunks (glibc: tcache). The cache is itself
// a chunk, and has one list of freed chunks for each of 64 sizes. It contains
// 64 counts and then the addresses of the first chunks of the 64 lists (glibc
// from 2.30 on). Each link in a list is XORed with the link's own address
// shifted right by 12 (from 2.32 on).

enum { LISTS = 64, CACHE_CHUNK = 0x290 };

static bool is_cache(uintptr_t chunk) {
  if (mprof_chunk_size(chunk) != CACHE_CHUNK)
    return false;
  const uint16_t *counts = (const uint16_t *)(chunk + 2 * WORD);
  const uintptr_t *lists = (const uintptr_t *)(counts + LISTS);
  for (size_t i = 0; i < LISTS; i++)
    if ((counts[i] == 0) != (lists[i] == 0) || lists[i] % MPROF_CHUNK_UNIT != 0)
      return false;
  return true;
}

static void forget_list(const struct mprof_memory *m, uintptr_t p, size_t n) {
  for (; n > 0 && p != 0 && p % MPROF_CHUNK_UNIT == 0; n--) {
    struct mprof_blocks *b = mprof_memory_blocks_at(m, p);
    if (!b || !b->starts || p - b->start < MPROF_CHUNK_UNIT)
      return;
    const size_t i = (p - MPROF_CHUNK_UNIT - b->start) / MPROF_CHUNK_UNIT;
    if (!mprof_bit_get(b->starts, i))
      return;
    clear_bit(b->starts, i);
    p = mprof_memory_word_at(p) ^ p >> 12;
  }
}

static void forget_freed(struct mprof_memory *m) {
  for (size_t k = 0; k < m->blocks_len; k++) {
    const struct mprof_blocks *b = &m->blocks[k];
    if (!b->starts)
      continue;
    for (uintptr_t p = b->start;
         p < b->limit && mprof_chunk_size(p) >= MIN_CHUNK;
         p += mprof_chunk_size(p)) {
      if (!mprof_bit_get(b->starts, (p - b->start) / MPROF_CHUNK_UNIT) ||
          !is_cache(p))
        continue;
      const uint16_t *counts = (const uint16_t *)(p + 2 * WORD);
      const uintptr_t *lists = (const uintptr_t *)(counts + LISTS);
      for (size_t i = 0; i < LISTS; i++)
        forget_list(m, lists[i], counts[i]);
      clear_bit(b->starts, (p - b->start) / MPROF_CHUNK_UNIT);
    }
  }
}

// --- all blocks ---

int mprof_memory_find_blocks(struct mprof_memory *m) {
  for (size_t i = 0; i < m->areas_len; i++) {
    const struct mprof_area a = m->areas[i];
    if (a.is_hidden || a.is_shared || a.limit - a.start < MPROF_PAGE)
      continue;
    if (a.is_heap)
      find_heap(m, a.start, a.limit, true);
    else if (a.is_unnamed && !find_arena_heap(m, &a)) {
      find_mapped(m, a);
      if (mprof_unlikely(mprof_own_threads[MPROF_OWN_EMULATOR] != 0))
        find_unnamed_heap(m, &a);
    }
  }
  find_main_arena(m);
  const int error = sort_blocks(m);
  if (error != 0)
    return error;
  m->todo = mprof_os_map((m->todo_cap + 1) * sizeof(*m->todo));
  if (!m->todo)
    return -ENOMEM;
  forget_freed(m);
  return 0;
}

void mprof_memory_add_block(struct mprof_memory *m, uintptr_t start,
                            uintptr_t limit) {
  const struct mprof_blocks b = {.start = start, .limit = limit};
  if (start < limit && add_blocks(m, &b))
    m->todo_cap++;
}
