// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the addresses that the kernel stores from /proc and from pipes; see
// stuck_kernel.h.

#include "stuck/stuck_kernel.h"

#include "stuck/stuck_marks.h"
#include "sys/os_file.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static uint64_t parse(const char *p, unsigned base) {
  uint64_t v = 0;
  while (*p == ' ' || *p == '\t')
    p++;
  for (;; p++) {
    const unsigned char c = (unsigned char)*p;
    const unsigned digit = c >= '0' && c <= '9'   ? c - '0'
                           : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                                                  : 16u;
    if (digit >= base)
      return v;
    v = v * base + digit;
  }
}

static void make_path(struct mprof_text *t, const char *self, const char *name,
                      uint64_t number) {
  mprof_text_str(t, "/proc/");
  mprof_text_str(t, self);
  mprof_text_str(t, name);
  if (number != UINT64_MAX)
    mprof_text_dec(t, number);
}

// Reads addresses from the file at path, and marks the blocks at these
// addresses as reached. Each address is a hexadecimal number after the string
// `key`. If the character `before` is not 0, the number begins after the next
// `before` in the same line. Returns false if the file cannot be read.
static bool mark_numbers(struct mprof_memory *m, const char *path,
                         const char *key, char before) {
  struct mprof_procfile f;
  if (mprof_procfile_read(&f, path) != 0)
    return false;
  for (const char *p = f.data; (p = strstr(p, key)) != NULL;) {
    p += strlen(key);
    while (before && *p != '\0' && *p != before && *p != '\n')
      p++;
    if (before && *p == before)
      p++;
    mprof_memory_mark(m, parse(p, 16));
  }
  mprof_procfile_free(&f);
  return true;
}

// Returns whether a file descriptor is open for reading. path: the descriptor's
// file in /proc/PID/fdinfo.
static bool is_for_reading(const char *path) {
  struct mprof_procfile f;
  static const char key[] = "flags:";
  if (mprof_procfile_read(&f, path) != 0)
    return false;
  const char *p = strstr(f.data, key);
  const bool is = p && (parse(p + strlen(key), 8) & O_ACCMODE) != O_WRONLY;
  mprof_procfile_free(&f);
  return is;
}

// Marks as reached the blocks that words in a pipe point to. Threads pass
// addresses to one another through pipes, and an address may stay in a pipe for
// a long time.
static enum mprof_unjudged mark_pipe(struct mprof_memory *m, const char *path) {
  enum { PIPE_MAX = 1 << 20 };
  char *buf = mprof_os_map(PIPE_MAX);
  if (!buf)
    return MPROF_UNJUDGED_MEMORY;
  const long n = mprof_os_peek_pipe(path, buf, PIPE_MAX);
  for (long at = 0; at + (long)sizeof(uintptr_t) <= n; at++) {
    uintptr_t word; // at any offset, because messages have arbitrary formats
    memcpy(&word, buf + at, sizeof(word));
    mprof_memory_mark(m, word);
  }
  mprof_os_unmap(buf, PIPE_MAX);
  return n == -ENOBUFS ? MPROF_UNJUDGED_PIPE : MPROF_JUDGED;
}

static enum mprof_unjudged mark_descriptor(struct mprof_memory *m,
                                           const char *self, uint64_t fd) {
  static const char epoll[] = "anon_inode:[eventpoll]";
  static const char uring[] = "anon_inode:[io_uring]";
  static const char pipe[] = "pipe:[";
  char path[64], info_path[64], link[64];
  struct mprof_text t = MPROF_TEXT(path);
  struct mprof_text info = MPROF_TEXT(info_path);
  make_path(&t, self, "/fd/", fd);
  make_path(&info, self, "/fdinfo/", fd);
  long n = mprof_sys_readlink(path, link, sizeof(link));
  if (n == (long)sizeof(uring) - 1 && memcmp(link, uring, (size_t)n) == 0)
    return MPROF_UNJUDGED_URING;
  if (n >= (long)sizeof(pipe) - 1 &&
      memcmp(link, pipe, sizeof(pipe) - 1) == 0 && is_for_reading(info_path))
    return mark_pipe(m, path);
  if (n != (long)sizeof(epoll) - 1 || memcmp(link, epoll, (size_t)n) != 0)
    return MPROF_JUDGED;
  return mark_numbers(m, info_path, " data:", 0) ? MPROF_JUDGED
                                                 : MPROF_UNJUDGED_PROC;
}

enum mprof_unjudged mprof_memory_mark_kernels(struct mprof_memory *m,
                                              const char *self) {
  enum { LIST_BYTES = 1 << 16 };
  char path[64];
  if (m->has_rings)
    return MPROF_UNJUDGED_URING;
  struct mprof_text t = MPROF_TEXT(path);
  make_path(&t, self, "/fd", UINT64_MAX);
  const long fd = mprof_sys_open(path, O_RDONLY | O_DIRECTORY, 0);
  char *buf = mprof_os_map(LIST_BYTES);
  if (fd < 0 || !buf)
    return MPROF_UNJUDGED_PROC;
  long len;
  while ((len = mprof_sys_getdents((int)fd, buf, LIST_BYTES)) > 0) {
    const struct mprof_dirent *e;
    for (long at = 0; at < len; at += e->length) {
      e = (const struct mprof_dirent *)(buf + at);
      if (e->name[0] < '0' || e->name[0] > '9')
        continue;
      const enum mprof_unjudged why =
          mark_descriptor(m, self, parse(e->name, 10));
      if (why != MPROF_JUDGED)
        return why;
    }
  }
  struct mprof_text timers = MPROF_TEXT(path);
  make_path(&timers, self, "/../../timers", UINT64_MAX);
  mark_numbers(m, path, "signal:", '/'); // not every kernel has this file
  return len < 0 ? MPROF_UNJUDGED_PROC : MPROF_JUDGED;
}
