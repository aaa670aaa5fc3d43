// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the mappings, the pages and the words of a process; see
// process_memory.h.

#include "memory/process_memory.h"

#include "sys/message.h"
#include "sys/os.h"
#include "sys/scale.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

void mprof_usage_add(struct mprof_usage *sum, const struct mprof_usage *more) {
  sum->mapped += more->mapped;
  sum->rss += more->rss;
  sum->pss += more->pss;
  sum->private_dirty += more->private_dirty;
  sum->swap += more->swap;
}

void mprof_usage_subtract(struct mprof_usage *from,
                          const struct mprof_usage *less) {
  from->mapped -= less->mapped;
  from->rss -= less->rss;
  from->pss -= less->pss;
  from->private_dirty -= less->private_dirty;
  from->swap -= less->swap;
}

struct mprof_usage mprof_usage_part(const struct mprof_usage *all, uint64_t n,
                                    uint64_t of) {
  if (of == 0)
    return (struct mprof_usage){0};
  return (struct mprof_usage){.rss = mprof_mul_div(all->rss, n, of, 0),
                              .pss = mprof_mul_div(all->pss, n, of, 0),
                              .private_dirty =
                                  mprof_mul_div(all->private_dirty, n, of, 0),
                              .swap = mprof_mul_div(all->swap, n, of, 0)};
}

// --- smaps ---

bool mprof_process_grow(void **v, size_t *bytes, size_t len, size_t more) {
  size_t size = *bytes > 0 ? *bytes : 65536;
  while (size < len + more)
    size *= 2;
  if (size == *bytes)
    return true;
  void *larger = mprof_os_map(size);
  if (larger == NULL)
    return false;
  if (*bytes > 0) {
    memcpy(larger, *v, len);
    mprof_os_unmap(*v, *bytes);
  }
  *v = larger;
  *bytes = size;
  return true;
}

static int digit(char c, int base) {
  const int v = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                       : 99;
  return v < base ? v : -1;
}

static uint64_t parse_number(const char **p, const char *end, int base) {
  uint64_t v = 0;
  for (int d; *p < end && (d = digit(**p, base)) >= 0; ++*p)
    v = v * (unsigned)base + (unsigned)d;
  return v;
}

static void skip_blanks(const char **p, const char *end) {
  while (*p < end && **p == ' ')
    ++*p;
}

// Parses the first line of a mapping:
//   start-limit perms offset device inode   name
static bool add_mapping(struct mprof_process *p, const char *s,
                        const char *end) {
  struct mprof_mapped m = {.start = parse_number(&s, end, 16)};
  if (s == end || *s != '-')
    return true;
  s++;
  m.limit = parse_number(&s, end, 16);
  if (end - s < 6 || m.limit <= m.start)
    return true;
  m.is_readable = s[1] == 'r';
  m.is_writable = s[2] == 'w';
  m.is_executable = s[3] == 'x';
  m.is_shared = s[4] == 's';
  s += 6;
  m.offset = parse_number(&s, end, 16);
  skip_blanks(&s, end);
  while (s < end && *s != ' ') // the device
    s++;
  skip_blanks(&s, end);
  m.inode = parse_number(&s, end, 10);
  skip_blanks(&s, end);
  m.usage.mapped = m.limit - m.start;
  const size_t name = (size_t)(end - s);
  if (!mprof_process_grow((void **)&p->mappings, &p->mappings_bytes,
                          p->mappings_len * sizeof(m), sizeof(m)) ||
      !mprof_process_grow((void **)&p->names, &p->names_bytes, p->names_len,
                          name + 1))
    return false;
  m.name = (uint32_t)p->names_len;
  memcpy(p->names + p->names_len, s, name);
  p->names_len += name + 1;
  p->names[p->names_len - 1] = '\0';
  p->mappings[p->mappings_len++] = m;
  return true;
}

// Parses a line such as "Rss:   12 kB" of the last mapping.
static void add_field(struct mprof_process *p, const char *s, const char *end) {
  struct mprof_usage *u = &p->mappings[p->mappings_len - 1].usage;
  const struct {
    const char *key;
    uint64_t *value;
  } fields[] = {{"Rss:", &u->rss},
                {"Pss:", &u->pss},
                {"Private_Dirty:", &u->private_dirty},
                {"Swap:", &u->swap},
                {"LazyFree:", &p->lazy_free},
                {"Shared_Hugetlb:", &p->hugetlb},
                {"Private_Hugetlb:", &p->hugetlb}};
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    const size_t len = strlen(fields[i].key);
    if ((size_t)(end - s) <= len || memcmp(s, fields[i].key, len) != 0)
      continue;
    s += len;
    skip_blanks(&s, end);
    *fields[i].value += parse_number(&s, end, 10) * 1024;
    return;
  }
}

// Parses a line without its end. A line of a mapping's fields begins with a
// capital letter.
static int parse_line(struct mprof_process *p, const char *s, size_t len) {
  if (len == 0)
    return 0;
  if (*s < 'A' || *s > 'Z')
    return add_mapping(p, s, s + len) ? 0 : -ENOMEM;
  if (p->mappings_len > 0)
    add_field(p, s, s + len);
  return 0;
}

int mprof_process_parse(struct mprof_process *p, const char *text, size_t len) {
  int error = 0;
  for (const char *end; len > 0 && error == 0;) {
    end = memchr(text, '\n', len);
    const size_t line = end ? (size_t)(end - text) : len;
    error = parse_line(p, text, line);
    text += line + (end != NULL);
    len -= line + (end != NULL);
  }
  return error;
}

// Reads smaps in pieces, because the file of a process with many mappings is
// much larger than what is kept of it.
static int read_mappings(struct mprof_process *p, int fd) {
  enum { PIECE = 65536 };
  char *buf = mprof_os_map(PIECE);
  if (buf == NULL)
    return -ENOMEM;
  size_t len = 0;
  long n;
  int error = 0;
  while (error == 0 && (n = mprof_sys_read(fd, buf + len, PIECE - len)) != 0) {
    if (n == -EINTR)
      continue;
    if (n < 0) {
      error = (int)n;
      break;
    }
    len += (size_t)n;
    const char *last = memrchr(buf, '\n', len);
    // A line is shorter than a piece, because a path is. What is longer is
    // parsed in two parts, of which the second is no line.
    const size_t whole = last ? (size_t)(last - buf) + 1 : len;
    error = mprof_process_parse(p, buf, whole);
    memmove(buf, buf + whole, len - whole);
    len -= whole;
  }
  mprof_os_unmap(buf, PIECE);
  return error;
}

// Opens a file of the process's directory in /proc. The link thread-self works
// even if the first thread of this process has ended.
static long open_file(const struct mprof_process *p, const char *name) {
  char path[64];
  struct mprof_text t = MPROF_TEXT(path);
  mprof_text_str(&t, "/proc/");
  if (p->pid == 0)
    mprof_text_str(&t, "thread-self");
  else
    mprof_text_dec(&t, (uint64_t)p->pid);
  mprof_text_str(&t, name);
  return mprof_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

int mprof_process_open(struct mprof_process *p, int pid) {
  *p = (struct mprof_process){.pid = pid};
  p->copies = mprof_os_map(MPROF_COPIES * sizeof(p->copies[0]));
  if (p->copies == NULL)
    return -ENOMEM;
  const long fd = open_file(p, "/smaps");
  if (fd < 0)
    return (int)fd;
  const int error = read_mappings(p, (int)fd);
  mprof_sys_close((int)fd);
  p->pagemap = (int)open_file(p, "/pagemap");
  p->has_pagemap = p->pagemap >= 0;
  // The kernel opens smaps of another user's process, and then reads nothing.
  return error == 0 && p->mappings_len == 0 ? -EACCES : error;
}

void mprof_process_end_reading(struct mprof_process *p) {
  if (p->has_pagemap)
    mprof_sys_close(p->pagemap);
  if (p->copies != NULL)
    mprof_os_unmap(p->copies, MPROF_COPIES * sizeof(p->copies[0]));
  if (p->mappings_bytes > 0)
    mprof_os_unmap(p->mappings, p->mappings_bytes);
  p->has_pagemap = false;
  p->copies = NULL;
  p->mappings = NULL;
  p->mappings_len = p->mappings_bytes = 0;
}

void mprof_process_close(struct mprof_process *p) {
  mprof_process_end_reading(p);
  if (p->names_bytes > 0)
    mprof_os_unmap(p->names, p->names_bytes);
  *p = (struct mprof_process){0};
}

const struct mprof_mapped *mprof_process_at(const struct mprof_process *p,
                                            uintptr_t addr) {
  size_t low = 0, high = p->mappings_len;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (p->mappings[middle].limit <= addr)
      low = middle + 1;
    else
      high = middle;
  }
  const struct mprof_mapped *m = &p->mappings[low];
  return low < p->mappings_len && m->start <= addr ? m : NULL;
}

// --- pages ---

enum {
  PAGES = sizeof(((struct mprof_process *)0)->pages) / sizeof(uint64_t),
};
static const uint64_t present = UINT64_C(1) << 63, swapped = UINT64_C(1) << 62,
                      exclusive = UINT64_C(1) << 56;

// Number of entries that are read at once at least.
enum { AHEAD = 64 };

// Returns the pagemap's entry of the page that contains addr; 0: the page is
// neither resident nor swapped out. Reads the entries up to `limit`, too.
static uint64_t page_entry(struct mprof_process *p, uintptr_t addr,
                           uintptr_t limit) {
  const uintptr_t size = mprof_sys_page_size(), page = addr / size;
  if (page - p->first_page >= p->pages_len) {
    uintptr_t n = (limit + size - 1) / size - page;
    n = n < AHEAD ? AHEAD : n > PAGES ? PAGES : n;
    const long got =
        mprof_sys_pread(p->pagemap, p->pages, n * sizeof(p->pages[0]),
                        page * sizeof(p->pages[0]));
    p->first_page = page;
    p->pages_len = got > 0 ? (size_t)got / sizeof(p->pages[0]) : 0;
    if (p->pages_len == 0)
      return 0;
  }
  return p->pages[page - p->first_page];
}

// Returns the share of a range in the bytes of its mapping.
static struct mprof_usage share_of(const struct mprof_process *p,
                                   uintptr_t start, uintptr_t limit) {
  const struct mprof_mapped *m = mprof_process_at(p, start);
  struct mprof_usage u = {.mapped = limit - start};
  if (m == NULL)
    return u;
  u.rss = mprof_mul_div(m->usage.rss, u.mapped, m->usage.mapped, 0);
  u.swap = mprof_mul_div(m->usage.swap, u.mapped, m->usage.mapped, 0);
  return u;
}

struct mprof_usage mprof_process_pages(struct mprof_process *p, uintptr_t start,
                                       uintptr_t limit) {
  if (!p->has_pagemap)
    return share_of(p, start, limit);
  struct mprof_usage u = {.mapped = limit - start};
  const uintptr_t size = mprof_sys_page_size();
  for (uintptr_t at = start, next; at < limit; at = next) {
    next = (at & -size) + size;
    next = next > limit ? limit : next;
    const uint64_t entry = page_entry(p, at, limit);
    if (entry & present)
      u.rss += next - at;
    else if (entry & swapped)
      u.swap += next - at;
    if ((entry & present) && (entry & exclusive))
      u.private_dirty += next - at;
  }
  return u;
}

// --- words ---

bool mprof_process_copy(struct mprof_process *p, void *to, uintptr_t from,
                        size_t len) {
  if (p->pid == 0)
    return mprof_os_copy(to, from, len);
  const struct iovec local = {to, len}, remote = {(void *)from, len};
  return mprof_syscall(SYS_process_vm_readv, p->pid, (long)&local, 1,
                       (long)&remote, 1, 0) == (long)len;
}

static bool is_present(struct mprof_process *p, uintptr_t page,
                       uintptr_t limit) {
  return !p->has_pagemap || (page_entry(p, page, limit) & present) != 0;
}

// Copies the page, whose copy has index i. A reader that has just read the page
// before will read those behind, too, so they are copied by the same call.
static bool copy_page(struct mprof_process *p, uintptr_t page, size_t i) {
  enum { AHEAD = 16 };
  size_t n = 1;
  if (i > 0 && p->copy_of[i - 1] == page - MPROF_PAGE)
    while (n < AHEAD && i + n < MPROF_COPIES &&
           is_present(p, page + n * MPROF_PAGE, page + AHEAD * MPROF_PAGE))
      p->copy_of[i + n++] = 0;
  if (!mprof_process_copy(p, p->copies[i], page, n * MPROF_PAGE)) {
    n = 1;
    if (!mprof_process_copy(p, p->copies[i], page, MPROF_PAGE))
      return false;
  }
  for (size_t k = 0; k < n; k++)
    p->copy_of[i + k] = page + k * MPROF_PAGE;
  return true;
}

uintptr_t mprof_process_word(struct mprof_process *p, uintptr_t addr) {
  const uintptr_t page = addr & -(uintptr_t)MPROF_PAGE;
  const size_t i = page / MPROF_PAGE % MPROF_COPIES;
  if (p->copy_of[i] != page) {
    p->copy_of[i] = 0;
    if (!is_present(p, page, page + 1) || !copy_page(p, page, i))
      return 0;
  }
  return p->copies[i][addr % MPROF_PAGE / sizeof(uint64_t)];
}

void mprof_process_forget(struct mprof_process *p) {
  memset(p->copy_of, 0, sizeof(p->copy_of));
  p->pages_len = 0;
}

// --- cgroups ---

const char *mprof_cgroup_path(const char *line, size_t len, bool *is_second) {
  const char *end = line + len;
  const char *first = memchr(line, ':', len);
  const char *names = first ? first + 1 : end;
  const char *path = memchr(names, ':', (size_t)(end - names));
  if (path == NULL)
    return NULL;
  *is_second = path == names;
  static const char memory[] = "memory";
  const size_t n = sizeof(memory) - 1;
  for (const char *p = names; !*is_second && p < path; p++)
    if ((size_t)(path - p) >= n && memcmp(p, memory, n) == 0 &&
        (p == names || p[-1] == ',') && (p[n] == ',' || p[n] == ':'))
      return path + 1;
  return *is_second ? path + 1 : NULL;
}
