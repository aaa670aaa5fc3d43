// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the memory map, and removes ranges from its areas; see stuck_memory.h.

#include "stuck/stuck_memory.h"

#include "sys/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

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

void mprof_memory_each_page(struct mprof_memory *m, uintptr_t start,
                            uintptr_t limit, mprof_visit_pages *fn) {
  enum { PAGES = 512 };
  const uint64_t present = UINT64_C(3) << 62, of_file = UINT64_C(1) << 61;
  const uintptr_t size = mprof_sys_page_size();
  uint64_t v[PAGES];
  for (uintptr_t at = start & -size; at < limit;) {
    size_t n = (limit - at + size - 1) / size;
    if (n > PAGES)
      n = PAGES;
    const long got = mprof_sys_pread(m->pagemap, v, n * sizeof(v[0]),
                                     at / size * sizeof(v[0]));
    n = got > 0 ? (size_t)got / sizeof(v[0]) : 0;
    if (n == 0)
      return;
    for (size_t i = 0; i < n; i++, at += size)
      if ((v[i] & present) && !(v[i] & of_file))
        fn(m, at < start ? start : at, at + size < limit ? at + size : limit);
  }
}

// --- stacks of libc ---

enum { WORD = sizeof(uintptr_t) };

// A thread's control block contains the start and the size of the thread's
// stack in two adjacent words (glibc: stackblock; musl: map_base). The offset
// of these words differs between versions of libc, so the first BLOCK_BYTES
// bytes of the control block are searched. The range of the stack includes the
// guard pages and the control block.
enum { BLOCK_BYTES = 2304 };
// The control block begins at most so many bytes before the end of the stack.
#ifdef __aarch64__
enum { FROM_END_MAX = 32 * MPROF_PAGE };
#else
enum { FROM_END_MAX = 2 * MPROF_PAGE };
#endif

bool mprof_memory_libc_stack(const struct mprof_area *a, uintptr_t block,
                             struct mprof_libc_stack *s) {
  if (!a->is_unnamed || a->is_shared || block % WORD != 0 || block < a->start)
    return false;
  for (uintptr_t p = block; p + 2 * WORD <= a->limit && p < block + BLOCK_BYTES;
       p += WORD) {
    const uintptr_t start = mprof_memory_word_at(p),
                    limit = start + mprof_memory_word_at(p + WORD);
    if (start == 0 || start % MPROF_PAGE != 0 || limit % MPROF_PAGE != 0 ||
        start >= block || limit <= p || limit - block > FROM_END_MAX ||
        limit > a->limit)
      continue;
    s->start = start > a->start ? start : a->start;
    s->block = block;
    s->limit = limit;
    return true;
  }
  return false;
}

#ifdef __GLIBC__
// The layout of a control block (struct pthread, tcbhead_t). Its links in a
// list of control blocks are at LIST_AT. The thread's id is at TID_AT: 0 if the
// thread has ended, -1 if the thread was also joined. On x86-64 the control
// block begins with its own address, and contains this address again at
// SELF_AT. The control block of a detached thread contains its own address once
// more (joinid).
#ifdef __aarch64__
enum { LIST_AT = 192, TID_AT = 208, BLOCK_ALIGNMENT = 16 };
#else
enum { SELF_AT = 16, LIST_AT = 704, TID_AT = 720, BLOCK_ALIGNMENT = 64 };
#endif

static bool is_word(uintptr_t addr, uintptr_t value) {
  return addr % WORD == 0 && mprof_sys_readable(addr) &&
         mprof_memory_word_at(addr) == value;
}

// Returns whether a control block is in one of libc's lists of stacks. The
// program may provide the memory for a thread's stack. When such a thread ends,
// libc removes its control block from the lists, and the memory may then
// contain anything.
static bool is_listed(uintptr_t block) {
  const uintptr_t list = block + LIST_AT;
  return is_word(mprof_memory_word_at(list) + WORD, list) &&
         is_word(mprof_memory_word_at(list + WORD), list);
}

// Finds the stack of the control block at p, if there is one.
#ifdef __aarch64__
static bool is_block(const struct mprof_area *a, uintptr_t p,
                     struct mprof_libc_stack *s) {
  const uintptr_t next = mprof_memory_word_at(p + LIST_AT);
  return next != 0 && next % WORD == 0 && mprof_memory_libc_stack(a, p, s) &&
         is_listed(p);
}
#else
static bool is_block(const struct mprof_area *a, uintptr_t p,
                     struct mprof_libc_stack *s) {
  return mprof_memory_word_at(p) == p &&
         mprof_memory_word_at(p + SELF_AT) == p &&
         mprof_memory_libc_stack(a, p, s);
}
#endif

bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s) {
  if (!a->is_unnamed || a->is_shared || a->limit - a->start < 2 * MPROF_PAGE)
    return false;
  const uintptr_t size = a->limit - a->start;
  const uintptr_t least =
      a->limit - (size < FROM_END_MAX ? size : FROM_END_MAX);
  for (uintptr_t p = a->limit - BLOCK_BYTES; p > least; p -= BLOCK_ALIGNMENT)
    if (is_block(a, p, s)) {
      s->tid = *(const int *)(p + TID_AT);
      return true;
    }
  return false;
}

static bool can_be_joined(const struct mprof_libc_stack *s) {
  if (s->tid < 0)
    return false;
  for (uintptr_t p = s->block + TID_AT; p < s->block + BLOCK_BYTES; p += WORD)
    if (mprof_memory_word_at(p) == s->block)
      return false;
  return true;
}
#else
bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s) {
  (void)a, (void)s;
  return false;
}
static bool is_listed(uintptr_t block) { return (void)block, false; }
static bool can_be_joined(const struct mprof_libc_stack *s) {
  return (void)s, true;
}
#endif

void mprof_memory_cut_unused_stacks(struct mprof_memory *m,
                                    bool (*is_used)(void *arg, int tid),
                                    void *arg) {
  for (size_t i = 0; i < m->areas_len; i++) {
    const struct mprof_area a = m->areas[i];
    struct mprof_libc_stack s;
    if (mprof_memory_last_libc_stack(&a, &s) && is_listed(s.block) &&
        (s.tid <= 0 || !is_used(arg, s.tid)))
      mprof_memory_cut(m, s.start, can_be_joined(&s) ? s.block : s.limit);
  }
}

// --- marks of blocks ---

static void push(struct mprof_memory *m, uintptr_t start, uintptr_t limit) {
  if (m->todo_len < m->todo_cap)
    m->todo[m->todo_len++] = (struct mprof_reached){start, limit};
}

static void mark_canonical(struct mprof_memory *m, uintptr_t addr) {
  struct mprof_blocks *b = mprof_memory_blocks_at(m, addr);
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
  const size_t i = mprof_memory_chunk_of(b, addr, &m->steps);
  if (i == MPROF_NO_CHUNK)
    return;
  const uintptr_t chunk = b->start + i * MPROF_CHUNK_UNIT;
  const uintptr_t limit = chunk + mprof_chunk_size(chunk) + WORD;
  *near = (struct mprof_reached){chunk + 2 * WORD, limit};
  if (mprof_bit_get(b->marks, i))
    return;
  mprof_bit_set(b->marks, i);
  push(m, chunk + 2 * WORD, limit);
}

// An address has at most this number of bits. The search ignores the upper bits
// of a word, because some programs store a tag in the upper bits of a pointer.
#define ADDRESS_BITS 47

void mprof_memory_mark(struct mprof_memory *m, uintptr_t word) {
  mark_canonical(m, word & ((UINT64_C(1) << ADDRESS_BITS) - 1));
}

bool mprof_memory_is_reached(struct mprof_memory *m, uintptr_t addr) {
  const struct mprof_blocks *b = mprof_memory_blocks_at(m, addr);
  if (!b)
    return true;
  if (!b->starts)
    return b->is_marked;
  const size_t i = mprof_memory_chunk_of(b, addr, &m->steps);
  return i == MPROF_NO_CHUNK || mprof_bit_get(b->marks, i);
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
  const uintptr_t size = mprof_sys_page_size();
  unsigned char v[PAGES];
  for (uintptr_t at = a->start; at < a->limit; at += PAGES * size) {
    size_t n = (a->limit - at) / size;
    if (n > PAGES)
      n = PAGES;
    if (mprof_sys_mincore(at, n * size, v) != 0)
      continue;
    for (size_t i = 0; i < n; i++)
      if (v[i] & 1)
        mark_words(m, at + i * size, at + (i + 1) * size);
  }
}

void mprof_memory_mark_range(struct mprof_memory *m, uintptr_t start,
                             uintptr_t limit) {
  enum { SMALL = 16 * MPROF_PAGE };
  start = (start + WORD - 1) & -(uintptr_t)WORD;
  if (limit - start <= SMALL)
    mark_words(m, start, limit);
  else
    mprof_memory_each_page(m, start, limit, mark_words);
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
      mprof_memory_each_page(m, a->start, a->limit, mark_words);
    mprof_memory_follow(m);
  }
}

void mprof_memory_follow(struct mprof_memory *m) {
  while (m->todo_len > 0) {
    const struct mprof_reached r = m->todo[--m->todo_len];
    mprof_memory_mark_range(m, r.start, r.limit);
  }
}
