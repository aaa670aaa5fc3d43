// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removes the files of old outputs; see keep_newest.h.
//
// The list of the children is in memory that all forked processes share. A
// process can be killed while it changes an entry of the list, so no process
// waits for another process. If another process is changing the entry that a
// new set would replace, the new set is not added and no file is removed.

#include "file/keep_newest.h"

#include "sys/flags.h"
#include "sys/hash.h"
#include "sys/message.h"
#include "sys/os_linux.h"

#include <string.h>

enum { EMPTY, IN_USE, FULL };

struct place {
  atomic_uint state;
  // Hash of the paths. If the hash does not match the paths, no file is
  // removed, because the program may have overwritten this memory by mistake.
  uint64_t hash;
  struct mprof_keep_set set;
};

struct list {
  atomic_uint next;
  struct place places[];
};

// Written once by mprof_keep_init. NULL: the list has no limit.
static struct list *lists[2];

static uint64_t limit_of(enum mprof_keep_list which) {
  return which == MPROF_KEEP_SNAPSHOTS ? mprof_flags.dump_keep
                                       : mprof_flags.children_keep;
}

static size_t bytes_of(enum mprof_keep_list which) {
  return sizeof(struct list) + limit_of(which) * sizeof(struct place);
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

static void remove_files(const struct place *p) {
  if (p->set.len > MPROF_KEEP_BYTES || p->hash != hash_of(&p->set))
    return;
  for (size_t at = 0; at < p->set.len; at += strlen(p->set.paths + at) + 1)
    mprof_sys_unlink(p->set.paths + at);
}

void mprof_keep_newest(enum mprof_keep_list which,
                       const struct mprof_keep_set *set) {
  struct list *list = lists[which];
  if (list == NULL || set->len == 0 || set->len > MPROF_KEEP_BYTES)
    return;
  const unsigned n = atomic_fetch_add(&list->next, 1);
  struct place *p = &list->places[n % limit_of(which)];
  unsigned state = atomic_load(&p->state);
  if (state == IN_USE ||
      !atomic_compare_exchange_strong(&p->state, &state, IN_USE))
    return;
  if (state == FULL)
    remove_files(p);
  p->set.len = set->len;
  memcpy(p->set.paths, set->paths, set->len);
  p->hash = hash_of(&p->set);
  atomic_store(&p->state, FULL);
}

void mprof_keep_init(void) {
  if (limit_of(MPROF_KEEP_CHILDREN) != 0) {
    lists[MPROF_KEEP_CHILDREN] =
        mprof_os_map_shared(bytes_of(MPROF_KEEP_CHILDREN));
    if (lists[MPROF_KEEP_CHILDREN] == NULL)
      mprof_message("children_keep has no effect: the system is out of memory");
  }
  if (limit_of(MPROF_KEEP_SNAPSHOTS) != 0 &&
      mprof_flags.dump_on_signal[0] != '\0')
    lists[MPROF_KEEP_SNAPSHOTS] = mprof_os_map(bytes_of(MPROF_KEEP_SNAPSHOTS));
}

void mprof_keep_reset(void) {
  struct list *list = lists[MPROF_KEEP_SNAPSHOTS];
  if (list != NULL)
    mprof_os_discard(list, bytes_of(MPROF_KEEP_SNAPSHOTS));
}
