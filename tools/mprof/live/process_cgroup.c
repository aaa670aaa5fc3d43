// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the files of a cgroup of version 2, or of version 1:
//
//   line of /proc/PID/cgroup   folder of the files
//   0::PATH                    PATH
//   N:...,memory,...:PATH      memory/PATH

#include "live/process_cgroup.h"
#include "common/memory.h"
#include "memory/process_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reads a number, "max" as UINT64_MAX. Returns false if the file has none.
static bool read_number(const char *folder, const char *name, uint64_t *n) {
  char *path = text_of("%s/%s", folder, name), word[32] = "";
  FILE *f = fopen(path, "r");
  const bool is_read = f && fscanf(f, "%31s", word) == 1;
  if (f)
    fclose(f);
  free(path);
  *n = strcmp(word, "max") == 0 ? UINT64_MAX : strtoull(word, NULL, 10);
  return is_read;
}

// Returns the number behind the key of memory.stat, or 0.
static uint64_t read_key(const char *folder, const char *key) {
  char *path = text_of("%s/memory.stat", folder), word[64];
  FILE *f = fopen(path, "r");
  uint64_t n = 0, value;
  while (f && fscanf(f, "%63s %" SCNu64, word, &value) == 2)
    if (strcmp(word, key) == 0)
      n = value;
  if (f)
    fclose(f);
  free(path);
  return n;
}

static bool read_folder(const char *folder, struct process_cgroup *c) {
  enum { NO_LIMIT_BITS = 62 }; // version 1 shows a large number instead of max
  const bool is_second = read_number(folder, "memory.current", &c->used);
  if (!is_second && !read_number(folder, "memory.usage_in_bytes", &c->used))
    return false;
  c->cache = read_key(folder, is_second ? "file" : "total_cache");
  if (!read_number(folder, is_second ? "memory.max" : "memory.limit_in_bytes",
                   &c->limit) ||
      c->limit >> NO_LIMIT_BITS)
    c->limit = UINT64_MAX;
  return true;
}

bool process_cgroup_read(const char *proc, const char *root,
                         struct process_cgroup *c) {
  bool is_read = false;
  for (const char *line = proc; *line && !is_read;) {
    const size_t length = strcspn(line, "\n");
    bool is_second;
    const char *path = mprof_cgroup_path(line, length, &is_second);
    const int path_length = path ? (int)(line + length - path) : 0;
    if (path_length > 1) { // not the root
      char *folder = text_of("%s%s%.*s", root, is_second ? "" : "/memory",
                             path_length, path);
      is_read = read_folder(folder, c);
      free(folder);
    }
    line += length + (line[length] == '\n');
  }
  return is_read;
}

bool process_cgroup(int pid, struct process_cgroup *c) {
  char *path = text_of("/proc/%d/cgroup", pid), text[4096];
  FILE *f = fopen(path, "r");
  const size_t length = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f)
    fclose(f);
  free(path);
  text[length] = '\0';
  return process_cgroup_read(text, "/sys/fs/cgroup", c) ||
         process_cgroup_read(text, "/sys/fs/cgroup/unified", c);
}
