// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See unload_marks.h.

#include "symbolize/unload_marks.h"

#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_memory.h"

#include <string.h>

static struct {
  // The buckets that are not marked, in any order.
  struct mprof_bucket **v;
  size_t len, cap;
  // For each type, the newest bucket that the list takes into account.
  struct mprof_bucket *newest[MPROF_BUCKET_TYPES];
} unmarked; // guarded by modules_lock

static bool make_room(void) {
  if (unmarked.len < unmarked.cap)
    return true;
  const size_t cap = unmarked.cap == 0 ? 4096 : 2 * unmarked.cap;
  struct mprof_bucket **v = mprof_os_map(cap * sizeof(struct mprof_bucket *));
  if (v == NULL)
    return false;
  struct mprof_bucket **old = unmarked.v;
  const size_t old_cap = unmarked.cap;
  if (old != NULL)
    memcpy(v, old, unmarked.len * sizeof(struct mprof_bucket *));
  unmarked.v = v;
  unmarked.cap = cap;
  if (old != NULL)
    mprof_os_unmap(old, old_cap * sizeof(struct mprof_bucket *));
  return true;
}

// Adds the buckets of this type that were created since the last call. Returns
// false if there is no memory. Then the next call adds the same buckets again,
// which does no harm.
static bool add_new(int type) {
  struct mprof_bucket *const newest = mprof_bucket_first(type);
  for (struct mprof_bucket *b = newest; b != unmarked.newest[type];
       b = b->allnext) {
    if (mprof_bucket_gone(b) != 0)
      continue;
    if (!make_room())
      return false;
    unmarked.v[unmarked.len++] = b;
  }
  unmarked.newest[type] = newest;
  return true;
}

typedef bool is_gone_fn(const struct mprof_bucket *b, const void *arg);

// Marks b if it is not marked and is_gone(b, arg) is true. Returns 1 if b was
// marked now, and 0 otherwise.
static unsigned mark(struct mprof_bucket *b, uint32_t unload,
                     is_gone_fn *is_gone, const void *arg) {
  if (mprof_bucket_gone(b) != 0 || !is_gone(b, arg))
    return 0;
  mprof_bucket_bury(b, unload);
  return 1;
}

uint64_t mprof_unload_mark(uint32_t unload, is_gone_fn *is_gone,
                           const void *arg) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_UNLOADS));
  uint64_t n = 0;
  for (int type = MPROF_BUCKET_MEM; type < MPROF_BUCKET_TYPES; type++)
    if (!add_new(type))
      for (struct mprof_bucket *b = mprof_bucket_first(type); b != NULL;
           b = b->allnext)
        n += mark(b, unload, is_gone, arg);
  for (size_t i = 0; i < unmarked.len;) {
    n += mark(unmarked.v[i], unload, is_gone, arg);
    if (mprof_bucket_gone(unmarked.v[i]) != 0)
      unmarked.v[i] = unmarked.v[--unmarked.len];
    else
      i++;
  }
  return n;
}

void mprof_unload_marks_reset(void) {
  unmarked.len = 0;
  memset(unmarked.newest, 0, sizeof(unmarked.newest));
}
