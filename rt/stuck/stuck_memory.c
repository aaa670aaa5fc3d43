// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the memory map, finds the blocks of glibc's malloc, and marks the
// blocks to which words of the searched memory point; see stuck_memory.h.
//
// First the areas of the memory map are read. Stacks and the runtime's own
// mappings are removed from the areas. Then malloc's heaps are found. They
// become blocks and are removed from the areas, too. The remaining areas are
// the roots: each of their words may be the address of a block. A heap whose
// layout is not understood stays in the areas, so it is a root.

#include "stuck/stuck_memory.h"

#include "sys/kernel_call.h"
#include "sys/os_linux.h"
#include "sys/os_linux_cold.h"
#include "sys/procfile.h"
#include "sys/sort.h"
#include "thread/own_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORD = sizeof(uintptr_t), UNIT = 16 };

// --- areas ---

static uint64_t parse_hex(const char **p) {
  uint64_t v = 0;
  for (;; ++*p) {
    const unsigned char c = (unsigned char)**p;
    if (c >= '0' && c <= '9')
      v = v << 4 | (c - '0');
    else if (c >= 'a' && c <= 'f')
      v = v << 4 | (c - 'a' + 10u);
    else
      return v;
  }
}

static const char *skip_fields(const char *p, int n) {
  for (; n > 0; n--) {
    while (*p != ' ' && *p != '\n')
      p++;
    while (*p == ' ')
      p++;
  }
  return p;
}

static bool begins(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

// Returns whether path is a regular file, or a file that was deleted.
static bool is_file(const char *path) {
  return mprof_os_is_file(path) ||
         (*path == '/' && !begins(path, "/dev/") && !begins(path, "/dmabuf:") &&
          !mprof_os_is_special(path));
}

// Returns whether a shared mapping may contain addresses of this process. name:
// the name of the mapping. is_written: whether the mapping is writable. A
// mapping of a file can contain such addresses only if it is writable. Returns
// false for a device, because a device must not even be read.
static bool is_memory(const char *name, bool is_written) {
  char path[PATH_MAX];
  const char *end = strchr(name, '\n');
  if (begins(name, "/dev/shm/") || begins(name, "/dev/zero") ||
      begins(name, "/memfd:") || begins(name, "/SYSV"))
    return true;
  if (!is_written || !end || (size_t)(end - name) >= sizeof(path))
    return false;
  memcpy(path, name, (size_t)(end - name));
  path[end - name] = '\0';
  return is_file(path);
}

static void add_area(struct mprof_memory *m, const struct mprof_area *a) {
  if (m->areas_len < m->areas_cap && a->start < a->limit)
    m->areas[m->areas_len++] = *a;
}

// Maximum size in bytes of an unreadable area that is searched. A larger area
// counts as address space that an allocator has only reserved.
#define HIDDEN_MAX ((uintptr_t)4 << 30)

// Parses the line of /proc/self/maps at p, and adds its area to m. Line format:
//   start-limit perms offset device inode   name
static void parse_area(struct mprof_memory *m, const char *p) {
  struct mprof_area a = {.start = parse_hex(&p)};
  p++;
  a.limit = parse_hex(&p);
  const char *perms = p + 1;
  const char *name = skip_fields(p + 1, 4);
  a.is_hidden = perms[0] != 'r';
  a.is_shared = perms[3] == 's';
  a.is_unnamed = !a.is_hidden && *name == '\n';
  a.is_heap = !a.is_hidden && begins(name, "[heap]");
  a.is_stack = !a.is_hidden && begins(name, "[stack]");
  m->has_rings |=
      begins(name, "/[aio]") || begins(name, "anon_inode:[io_uring]");
  if (a.limit <= INTPTR_MAX && !begins(name, "[v") &&
      !(a.is_hidden && a.limit - a.start > HIDDEN_MAX) &&
      (!a.is_shared || is_memory(name, perms[1] == 'w')))
    add_area(m, &a);
}

static size_t count_lines(const char *p) {
  size_t n = 0;
  for (; *p; p++)
    n += *p == '\n';
  return n;
}

// Number of areas that may be added by splits. An area is split in two when a
// mapping of the runtime, a thread's stack or a heap is removed from its
// middle. In addition, mprof_memory_read makes room for one split per line of
// the memory map.
enum { SPARE_AREAS = 4096 };

int mprof_memory_read(struct mprof_memory *m) {
  struct mprof_procfile f;
  uintptr_t start;
  size_t len;
  *m = (struct mprof_memory){.low = UINTPTR_MAX};
  m->pagemap = (int)mprof_sys_open("/proc/self/pagemap", O_RDONLY, 0);
  if (m->pagemap < 0)
    return m->pagemap;
  int error = mprof_procfile_read(&f, "/proc/self/maps");
  if (error != 0)
    return error;
  m->areas_cap = 2 * count_lines(f.data) + SPARE_AREAS;
  m->areas = mprof_os_map(m->areas_cap * sizeof(*m->areas));
  m->blocks_cap = m->areas_cap;
  m->blocks = mprof_os_map(m->blocks_cap * sizeof(*m->blocks));
  if (!m->areas || !m->blocks)
    return -ENOMEM;
  for (const char *p = f.data; *p; p++) {
    parse_area(m, p);
    p = strchr(p, '\n');
    if (!p)
      break;
  }
  for (size_t i = 0; mprof_os_own_map(i, &start, &len); i++)
    if (len != 0)
      mprof_memory_cut(m, start, start + len);
  return 0;
}

// Returns the index of the first area that ends above addr.
static size_t first_area(const struct mprof_memory *m, uintptr_t addr) {
  size_t low = 0, high = m->areas_len;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (m->areas[middle].limit <= addr)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const struct mprof_area *mprof_memory_area(const struct mprof_memory *m,
                                           uintptr_t addr) {
  const size_t i = first_area(m, addr);
  return i < m->areas_len && m->areas[i].start <= addr ? &m->areas[i] : NULL;
}

void mprof_memory_cut(struct mprof_memory *m, uintptr_t start,
                      uintptr_t limit) {
  for (size_t i = first_area(m, start);
       i < m->areas_len && m->areas[i].start < limit; i++) {
    struct mprof_area *a = &m->areas[i];
    struct mprof_area rest = *a;
    rest.start = limit;
    if (start > a->start && limit < rest.limit) {
      if (m->areas_len == m->areas_cap)
        return; // no room for one more area, so the range is not cut out
      memmove(a + 2, a + 1, (m->areas_len - i - 1) * sizeof(*a));
      m->areas_len++;
      a[1] = rest;
      a->limit = start;
      return;
    }
    if (start > a->start)
      a->limit = start;
    else if (limit < a->limit)
      *a = rest;
    else
      a->limit = a->start; // the area is now empty
  }
}

// --- pages ---

typedef void visit(struct mprof_memory *m, uintptr_t start, uintptr_t limit);

// Calls fn for each page of private memory that was ever written. Skips all
// other pages, because a page that still belongs to a file or was never touched
// contains no addresses of this process.
static void each_page(struct mprof_memory *m, uintptr_t start, uintptr_t limit,
                      visit *fn) {
  enum { PAGES = 512 };
  const uint64_t present = UINT64_C(3) << 62, of_file = UINT64_C(1) << 61;
  uint64_t v[PAGES];
  for (uintptr_t at = start & -(uintptr_t)MPROF_PAGE; at < limit;) {
    size_t n = (limit - at + MPROF_PAGE - 1) / MPROF_PAGE;
    if (n > PAGES)
      n = PAGES;
    const long got = mprof_sys_pread(m->pagemap, v, n * sizeof(v[0]),
                                     at / MPROF_PAGE * sizeof(v[0]));
    n = got > 0 ? (size_t)got / sizeof(v[0]) : 0;
    if (n == 0)
      return;
    for (size_t i = 0; i < n; i++, at += MPROF_PAGE)
      if ((v[i] & present) && !(v[i] & of_file))
        fn(m, at < start ? start : at,
           at + MPROF_PAGE < limit ? at + MPROF_PAGE : limit);
  }
}

// --- glibc's heaps ---
// A heap consists of chunks. The second word of a chunk is its size. The low
// bits of this word are flags. Flag 1: the previous chunk is in use. Flag 2:
// the chunk is a mapping of its own. Flag 4: the chunk does not belong to the
// main arena. The next chunk follows directly. The last chunk of a heap is
// free.

enum { IN_USE_BEFORE = 1, MMAPPED = 2, OTHER_ARENA = 4, FLAGS = 7 };
enum { MIN_CHUNK = 32 };

static uintptr_t size_of(uintptr_t chunk) {
  return mprof_memory_word_at(chunk + WORD) & ~(uintptr_t)FLAGS;
}

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
    if (!is_main && end - p <= MIN_CHUNK && size <= UNIT)
      return end;
    if (size < MIN_CHUNK || size % UNIT != 0 || size > end - p ||
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

static bool get_bit(const uint64_t *bits, size_t i) {
  return bits[i / 64] >> (i % 64) & 1;
}
static void set_bit(uint64_t *bits, size_t i) {
  bits[i / 64] |= UINT64_C(1) << (i % 64);
}
static void clear_bit(uint64_t *bits, size_t i) {
  bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static bool add_heap(struct mprof_memory *m, uintptr_t first, uintptr_t end,
                     bool is_main) {
  const size_t bytes = (end - first) / UNIT / 8 + 8;
  struct mprof_blocks b = {.start = first, .limit = end};
  b.starts = mprof_os_map(2 * bytes);
  if (!b.starts || !add_blocks(m, &b))
    return false;
  b.marks = (uint64_t *)((char *)b.starts + bytes / 8 * 8);
  m->blocks[m->blocks_len - 1].marks = b.marks;
  for (uintptr_t p = first; p < end;) {
    const uintptr_t size = size_of(p);
    const uintptr_t next = p + size;
    if (size < MIN_CHUNK || next >= end) {
      if (is_main)
        m->main_top = p;
      break;
    }
    if (mprof_memory_word_at(next + WORD) & IN_USE_BEFORE) {
      set_bit(b.starts, (p - first) / UNIT);
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
  for (uintptr_t p = start; p < end && p - start < FIRST_AT; p += UNIT) {
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
  if (used < MPROF_PAGE || used % UNIT != 0 || used > a->limit - a->start)
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
  for (uintptr_t p = ends; p < ends + ENDS * UNIT; p += UNIT) {
    const uintptr_t first = mprof_memory_word_at(p),
                    last = mprof_memory_word_at(p + WORD);
    if (first == 0 || (first == p - UNIT) != (last == p - UNIT))
      return false;
  }
  return true;
}

static void cut_arena(struct mprof_memory *m, uintptr_t start,
                      uintptr_t limit) {
  for (uintptr_t p = start; p < limit; p += WORD) {
    const uintptr_t ends = p + 2 * WORD, after = ends + ENDS * UNIT;
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
      each_page(m, a.start, a.limit, cut_arena);
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

static void forget_freed(struct mprof_memory *m);

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

// --- blocks by address ---

static struct mprof_blocks *find_blocks(const struct mprof_memory *m,
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

#define NO_CHUNK SIZE_MAX

// Returns the index (in units of 16 bytes) of the chunk in use that contains
// addr. Returns NO_CHUNK if there is no such chunk. The last word of a chunk in
// use is the first word of the next chunk.
static size_t chunk_of(const struct mprof_blocks *b, uintptr_t addr,
                       size_t *steps) {
  if (addr - b->start < WORD)
    return NO_CHUNK;
  size_t i = (addr - WORD - b->start) / UNIT;
  size_t word = i / 64;
  uint64_t bits = b->starts[word] << (63 - i % 64) >> (63 - i % 64);
  for (*steps += 1; bits == 0 && word > 0; *steps += 1)
    bits = b->starts[--word];
  if (bits == 0)
    return NO_CHUNK;
  i = word * 64 + (63 - (size_t)__builtin_clzll(bits));
  const uintptr_t chunk = b->start + i * UNIT;
  return addr < chunk + size_of(chunk) + WORD ? i : NO_CHUNK;
}

static void push(struct mprof_memory *m, uintptr_t start, uintptr_t limit) {
  if (m->todo_len < m->todo_cap)
    m->todo[m->todo_len++] = (struct mprof_reached){start, limit};
}

static void mark_canonical(struct mprof_memory *m, uintptr_t addr) {
  struct mprof_blocks *b = find_blocks(m, addr);
  if (!b)
    return;
  if (!b->starts) {
    if (!b->is_marked)
      push(m, b->start, b->limit);
    b->is_marked = true;
    return;
  }
  struct mprof_reached *near = &m->marked[addr >> 16 & 63];
  if (addr >= near->start && addr < near->limit)
    return;
  const size_t i = chunk_of(b, addr, &m->steps);
  if (i == NO_CHUNK)
    return;
  const uintptr_t chunk = b->start + i * UNIT;
  const uintptr_t limit = chunk + size_of(chunk) + WORD;
  *near = (struct mprof_reached){chunk + 2 * WORD, limit};
  if (get_bit(b->marks, i))
    return;
  set_bit(b->marks, i);
  push(m, chunk + 2 * WORD, limit);
}

// An address has at most this number of bits. The search ignores the upper bits
// of a word, because some programs store a tag in the upper bits of a pointer.
#define ADDRESS_BITS 47

void mprof_memory_mark(struct mprof_memory *m, uintptr_t word) {
  mark_canonical(m, word & ((UINT64_C(1) << ADDRESS_BITS) - 1));
}

bool mprof_memory_is_reached(struct mprof_memory *m, uintptr_t addr) {
  const struct mprof_blocks *b = find_blocks(m, addr);
  if (!b)
    return true;
  if (!b->starts)
    return b->is_marked;
  const size_t i = chunk_of(b, addr, &m->steps);
  return i == NO_CHUNK || get_bit(b->marks, i);
}

// --- freed chunks in per-thread caches, which are marked as in use ---
// Each thread has a cache of freed chunks (glibc: tcache). The cache is itself
// a chunk, and has one list of freed chunks for each of 64 sizes. It contains
// 64 counts and then the addresses of the first chunks of the 64 lists (glibc
// from 2.30 on). Each link in a list is XORed with the link's own address
// shifted right by 12 (from 2.32 on).

enum { LISTS = 64, CACHE_CHUNK = 0x290 };

static bool is_cache(uintptr_t chunk) {
  if (size_of(chunk) != CACHE_CHUNK)
    return false;
  const uint16_t *counts = (const uint16_t *)(chunk + 2 * WORD);
  const uintptr_t *lists = (const uintptr_t *)(counts + LISTS);
  for (size_t i = 0; i < LISTS; i++)
    if ((counts[i] == 0) != (lists[i] == 0) || lists[i] % UNIT != 0)
      return false;
  return true;
}

static void forget_list(const struct mprof_memory *m, uintptr_t p, size_t n) {
  for (; n > 0 && p != 0 && p % UNIT == 0; n--) {
    struct mprof_blocks *b = find_blocks(m, p);
    if (!b || !b->starts || p - b->start < UNIT)
      return;
    const size_t i = (p - UNIT - b->start) / UNIT;
    if (!get_bit(b->starts, i))
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
    for (uintptr_t p = b->start; p < b->limit && size_of(p) >= MIN_CHUNK;
         p += size_of(p)) {
      if (!get_bit(b->starts, (p - b->start) / UNIT) || !is_cache(p))
        continue;
      const uint16_t *counts = (const uint16_t *)(p + 2 * WORD);
      const uintptr_t *lists = (const uintptr_t *)(counts + LISTS);
      for (size_t i = 0; i < LISTS; i++)
        forget_list(m, lists[i], counts[i]);
      clear_bit(b->starts, (p - b->start) / UNIT);
    }
  }
}

// --- searching words ---

static void mark_words(struct mprof_memory *m, uintptr_t start,
                       uintptr_t limit) {
  for (uintptr_t p = start; p + WORD <= limit; p += WORD)
    mprof_memory_mark(m, mprof_memory_word_at(p));
}

// Marks the blocks that words of a shared area point to. Skips pages that are
// not present, because a read of such a page would allocate memory.
static void mark_shared(struct mprof_memory *m, const struct mprof_area *a) {
  enum { PAGES = 512 };
  unsigned char v[PAGES];
  for (uintptr_t at = a->start; at < a->limit; at += PAGES * MPROF_PAGE) {
    size_t n = (a->limit - at) / MPROF_PAGE;
    if (n > PAGES)
      n = PAGES;
    if (mprof_sys_mincore(at, n * MPROF_PAGE, v) != 0)
      continue;
    for (size_t i = 0; i < n; i++)
      if (v[i] & 1)
        mark_words(m, at + i * MPROF_PAGE, at + (i + 1) * MPROF_PAGE);
  }
}

void mprof_memory_mark_range(struct mprof_memory *m, uintptr_t start,
                             uintptr_t limit) {
  enum { SMALL = 16 * MPROF_PAGE };
  start = (start + WORD - 1) & -(uintptr_t)WORD;
  if (limit - start <= SMALL)
    mark_words(m, start, limit);
  else
    each_page(m, start, limit, mark_words);
}

// Makes an unreadable area readable, so that the area can be searched. The area
// is searched because the program may make it readable again and use its
// addresses.
static bool show(const struct mprof_area *a) {
  return mprof_sys_mprotect(a->start, a->limit - a->start, PROT_READ) == 0;
}

void mprof_memory_mark_roots(struct mprof_memory *m) {
  for (size_t i = 0; i < m->areas_len; i++) {
    const struct mprof_area *a = &m->areas[i];
    if (a->is_hidden && a->start < a->limit && !show(a))
      continue;
    if (a->is_shared)
      mark_shared(m, a);
    else if (a->start < a->limit)
      each_page(m, a->start, a->limit, mark_words);
    mprof_memory_follow(m);
  }
}

void mprof_memory_follow(struct mprof_memory *m) {
  while (m->todo_len > 0) {
    const struct mprof_reached r = m->todo[--m->todo_len];
    mprof_memory_mark_range(m, r.start, r.limit);
  }
}
