// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removes the files of old outputs; see outfile.h.
//
// Each entry of a list has the set of files of one output. The list of the
// children's outputs is in memory that all forked processes share. A process
// can be killed while it changes an entry of the list, so no process waits for
// another process. If another process is changing the entry that a new set
// would replace, the new set is not added and no file is removed.

#include "file/outfile.h"

#include "options/flags.h"
#include "sys/message.h"
#include "sys/os.h"

#include <string.h>

enum { EMPTY, IN_USE, FULL };

struct directory {
  uint64_t dev, ino; // both 0: unknown
};

struct entry {
  atomic_uint state;
  // Hash of the paths. If the hash does not match the paths, no file is
  // removed, because the program may have overwritten this memory by mistake.
  uint64_t hash;
  struct directory here; // present directory when the files were written
  struct mprof_keep_set set;
};

struct list {
  atomic_uint next;
  struct entry entries[];
};

// The lists, by enum mprof_keep_list. NULL: the files of this list are never
// removed. mprof_keep_init writes the list of children, and the first set the
// other lists, with writer_lock held. A list keeps its number of entries, but
// the program can change the options.
static struct list *lists[MPROF_KEEP_LISTS];
static uint64_t entry_counts[MPROF_KEEP_LISTS]; // 0: lists[i] is NULL

static uint64_t limit_of(enum mprof_keep_list which) {
  return which == MPROF_KEEP_CHILDREN ? mprof_flags.children_keep
                                      : mprof_flags.dump_keep;
}

static size_t bytes_of(uint64_t count) {
  return sizeof(struct list) + count * sizeof(struct entry);
}

static void set_list(enum mprof_keep_list which, struct list *list,
                     uint64_t count) {
  lists[which] = list;
  entry_counts[which] = list != NULL ? count : 0;
}

void mprof_keep_add(struct mprof_keep_set *set, const char *path) {
  const size_t n = strlen(path) + 1;
  if (set->len > MPROF_KEEP_BYTES || n > MPROF_KEEP_BYTES - set->len) {
    set->len = MPROF_KEEP_BYTES + 1;
    return;
  }
  memcpy(set->paths + set->len, path, n);
  set->len += n;
}

static uint64_t hash_of(const struct mprof_keep_set *set) {
  return mprof_hash(MPROF_HASH_EMPTY, set->paths, set->len);
}

// Returns the length of the part of log_path before the first % pattern.
static size_t fixed_length(void) { return strcspn(mprof_flags.log_path, "%"); }

// Returns whether the name ends as the name of a profile, report or trace.
static bool has_known_ending(const char *name) {
  static const char *const endings[] = {".pb.gz", ".txt", ".trace"};
  const size_t len = strlen(name);
  for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
    const size_t n = strlen(endings[i]);
    if (len > n && strcmp(name + len - n, endings[i]) == 0)
      return true;
  }
  return false;
}

// Returns whether the file may have been written for this log_path. This is
// checked because child processes share the list of children. An attacker may
// have made a child with fewer rights write other paths to the list.
static bool is_own_path(const char *path) {
  const size_t n = fixed_length();
  return strncmp(path, mprof_flags.log_path, n) == 0 &&
         strchr(path + n, '/') == NULL && has_known_ending(path);
}

static bool is_relative(void) { return mprof_flags.log_path[0] != '/'; }

static struct directory present_directory(void) {
  struct directory d = {0};
  if (mprof_sys_path_id(".", &d.dev, &d.ino) != 0)
    return (struct directory){0};
  return d;
}

// Returns whether relative paths in p still lead to the files that were
// written. They do not if the program has changed its current directory since
// then.
static bool is_in_directory(const struct entry *p) {
  const struct directory now = present_directory();
  return now.ino != 0 && now.dev == p->here.dev && now.ino == p->here.ino;
}

// Removes the files that the entry p of a list names. Copies the paths first,
// because another process may change an entry of the shared list at any time.
static void remove_files(const struct entry *p) {
  // Static, because the struct is too large for a small stack. Guarded by
  // writer_lock.
  static struct mprof_keep_set set;
  memcpy(&set, &p->set, sizeof(set));
  const size_t len = set.len;
  if (len == 0 || len > MPROF_KEEP_BYTES || p->hash != hash_of(&set) ||
      set.paths[len - 1] != '\0' || (is_relative() && !is_in_directory(p)))
    return;
  for (size_t at = 0; at < len; at += strlen(set.paths + at) + 1)
    if (is_own_path(set.paths + at))
      mprof_sys_unlink(set.paths + at);
}

// Returns the list. The first set makes each list but that of children.
static struct list *list_of(enum mprof_keep_list which) {
  const uint64_t count = limit_of(which);
  if (which != MPROF_KEEP_CHILDREN && lists[which] == NULL && count != 0)
    set_list(which, mprof_os_map(bytes_of(count)), count);
  return count != 0 ? lists[which] : NULL;
}

void mprof_keep_newest(enum mprof_keep_list which,
                       const struct mprof_keep_set *set) {
  struct list *list = list_of(which);
  const uint64_t count = entry_counts[which];
  if (list == NULL || count == 0 || set->len == 0 ||
      set->len > MPROF_KEEP_BYTES)
    return;
  const unsigned n = atomic_fetch_add(&list->next, 1);
  struct entry *p = &list->entries[n % count];
  unsigned state = atomic_load(&p->state);
  if (state == IN_USE ||
      !atomic_compare_exchange_strong(&p->state, &state, IN_USE))
    return;
  if (state == FULL)
    remove_files(p);
  if (is_relative())
    p->here = present_directory();
  p->set.len = set->len;
  memcpy(p->set.paths, set->paths, set->len);
  p->hash = hash_of(&p->set);
  atomic_store(&p->state, FULL);
}

void mprof_keep_init(void) {
  const uint64_t count = limit_of(MPROF_KEEP_CHILDREN);
  if (count != 0) {
    set_list(MPROF_KEEP_CHILDREN, mprof_os_map_shared(bytes_of(count)), count);
    if (lists[MPROF_KEEP_CHILDREN] == NULL)
      mprof_message("children_keep has no effect: the system is out of memory");
  }
}

void mprof_keep_reset(void) {
  for (enum mprof_keep_list i = 0; i < MPROF_KEEP_CHILDREN; i++)
    if (lists[i] != NULL)
      mprof_os_discard(lists[i], bytes_of(entry_counts[i]));
}
