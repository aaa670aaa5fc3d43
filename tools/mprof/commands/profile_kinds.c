// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/profile_kinds.h"

#include "common/ends_with.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct profile_kind profile_kinds[] = {
    {"lockorder", ".lockorder.pb.gz", "traces", COMMAND_COUNT, "lockorder",
     true, "no cycle of locks was found"},
    {"cpu", ".cpu.pb.gz", "top", COMMAND_COUNT, "cpu", true, NULL},
    {"wall", ".wall.pb.gz", "top", COMMAND_COUNT, "wall", true,
     "the program ended before its first sample"},
    {"peak", ".peak.pb.gz", "top", COMMAND_COUNT, NULL, true, NULL},
    {"heap", ".heap.pb.gz", "top", COMMAND_COUNT,
     "inuse_space inuse_objects alloc_space alloc_objects", true, NULL},
    {"main", ".main.pb.gz", "top", COMMAND_COUNT, NULL, false, NULL},
    {"heapx", ".heapx.pb.gz", "top", COMMAND_COUNT, NULL, true,
     "no temporary block was found"},
    {"block", ".block.pb.gz", "top", COMMAND_COUNT, "contentions delay", true,
     "no wait was recorded"},
    {"mutex", ".mutex.pb.gz", "top", COMMAND_COUNT, "contentions delay", true,
     "no thread has waited for a lock"},
    {"threadleak", ".threadleak.pb.gz", "stuck", COMMAND_stuck, NULL, true,
     "no stuck thread was found"},
    {"memory", ".memory.pb.gz", "memory", COMMAND_memory, NULL, false, NULL},
    {"locks", ".locks.pb.gz", "locks", COMMAND_locks, NULL, false, NULL},
    {"threads", ".threads.pb.gz", "threads", COMMAND_threads, NULL, false,
     NULL},
    {"threadcreate", ".threadcreate.pb.gz", "top", COMMAND_COUNT,
     "threadcreate", false, NULL},
    {"trace", ".trace", "trace top", COMMAND_COUNT, NULL, false, NULL},
    {"stuck", ".stuck.txt", "stuck", COMMAND_COUNT, NULL, false, NULL},
    {0},
};

const struct profile_kind *profile_kind_of(const char *path) {
  for (const struct profile_kind *k = profile_kinds; k->name; k++)
    if (ends_with(path, k->suffix))
      return k;
  return NULL;
}

const struct profile_kind *profile_kind_named(const char *name) {
  for (const struct profile_kind *k = profile_kinds; k->name; k++)
    if (strcmp(k->name, name) == 0)
      return k;
  return NULL;
}

char *profile_kind_beside(const char *path, const struct profile_kind *kind) {
  const struct profile_kind *own = profile_kind_of(path);
  if (!own)
    return NULL;
  // All files of a process have the same name up to the suffix.
  const size_t length = strlen(path) - strlen(own->suffix);
  char *beside = text_of("%.*s%s", (int)length, path, kind->suffix);
  if (access(beside, R_OK) == 0)
    return beside;
  free(beside);
  return NULL;
}

bool profile_kind_has_type(const struct profile_kind *kind, const char *type) {
  const size_t length = strlen(type);
  for (const char *at = kind->types; at && *at; at += strcspn(at, " ")) {
    at += strspn(at, " ");
    if (strcspn(at, " ") == length && strncmp(at, type, length) == 0)
      return true;
  }
  return false;
}
