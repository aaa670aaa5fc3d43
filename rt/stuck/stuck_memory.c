// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the memory map, and removes ranges from its areas; see stuck_memory.h.

#include "stuck/stuck_memory.h"

#include "sys/os_file.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

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
