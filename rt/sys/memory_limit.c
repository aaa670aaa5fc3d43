// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the memory of the process and its limit; see memory_limit.h. There are
// two versions of cgroups, which may be used side by side:
//
//   version  line of /proc/self/cgroup  file with the limit, below the root
//   2        0::PATH                    PATH/memory.max
//   1        N:...,memory,...:PATH      memory/PATH/memory.limit_in_bytes
//
// In a container, PATH may be relative to the container, or to the machine and
// not visible. The limit is then that of the root.

#include "sys/memory_limit.h"

#include "sys/message.h"
#include "sys/procfile.h"

#include <string.h>

enum { PATH_BYTES = 1024, TEXT_BYTES = 4096 };

// Returns the number at the begin of the text, or UINT64_MAX if there is none.
static uint64_t number(const char *p) {
  uint64_t n = 0;
  if (*p < '0' || *p > '9')
    return UINT64_MAX; // "max"
  for (; *p >= '0' && *p <= '9'; p++)
    n = n > UINT64_MAX / 10 - 1 ? UINT64_MAX / 10
                                : n * 10 + (uint64_t)(*p - '0');
  return n;
}

uint64_t mprof_sys_resident(void) {
  char text[128];
  if (mprof_procfile_begin("/proc/self/statm", text, sizeof(text)) <= 0)
    return 0;
  const char *second = strchr(text, ' ');
  const uint64_t pages = second ? number(second + 1) : UINT64_MAX;
  return pages == UINT64_MAX ? 0 : pages * MPROF_PAGE;
}

// Returns the smallest limit of the cgroup at `path`, which has len bytes, and
// of those above it.
static uint64_t smallest(const char *root, const char *path, size_t len,
                         const char *file) {
  char name[PATH_BYTES], text[64];
  uint64_t least = UINT64_MAX;
  for (;; len--) {
    if (len > 0 && path[len] != '/' && path[len] != '\n' && path[len] != '\0')
      continue;
    struct mprof_text t = MPROF_TEXT(name);
    mprof_text_str(&t, root);
    mprof_text_mem(&t, path, len);
    mprof_text_str(&t, file);
    if (t.len + 1 < sizeof(name) &&
        mprof_procfile_begin(name, text, sizeof(text)) > 0) {
      const uint64_t limit = number(text);
      least = limit < least ? limit : least;
    }
    if (len == 0)
      return least;
  }
}

// Returns the path of a line "N:CONTROLLERS:PATH" that has memory, or NULL.
static const char *memory_path(const char *line, size_t len, bool *is_second) {
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

uint64_t mprof_cgroup_limit_in(const char *proc, const char *root) {
  uint64_t least = UINT64_MAX;
  char first[PATH_BYTES];
  struct mprof_text t = MPROF_TEXT(first);
  mprof_text_str(&t, root);
  mprof_text_str(&t, "/memory");
  while (*proc != '\0') {
    const size_t len = strcspn(proc, "\n");
    bool is_second;
    const char *path = memory_path(proc, len, &is_second);
    if (path != NULL) {
      const uint64_t limit =
          smallest(is_second ? root : first, path, (size_t)(proc + len - path),
                   is_second ? "/memory.max" : "/memory.limit_in_bytes");
      least = limit < least ? limit : least;
    }
    proc += len + (proc[len] == '\n');
  }
  return least;
}

uint64_t mprof_sys_cgroup_limit(void) {
  char text[TEXT_BYTES];
  uint64_t limit = UINT64_MAX, machine = 0;
  if (mprof_procfile_begin("/proc/self/cgroup", text, sizeof(text)) > 0)
    limit = mprof_cgroup_limit_in(text, "/sys/fs/cgroup");
  static const char total[] = "MemTotal:";
  if (mprof_procfile_begin("/proc/meminfo", text, sizeof(text)) > 0 &&
      strncmp(text, total, sizeof(total) - 1) == 0) {
    const uint64_t kb = number(text + strspn(text, "MemTotal: "));
    machine = kb < UINT64_MAX / 1024 ? kb * 1024 : 0;
  }
  return machine != 0 && machine < limit ? machine
         : limit == UINT64_MAX           ? 0
                                         : limit;
}
