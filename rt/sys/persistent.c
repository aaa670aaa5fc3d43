// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates memory that is never freed. All of this memory lies in one reserved
// address range. Objects are allocated one after the other from the start of
// the range. Memory is committed in pieces when it is needed. Because there is
// only one range, a 32-bit handle can identify any object in it. (Go:
// persistentalloc)

#include "sys/persistent.h"

#include "sys/lock.h"
#include "sys/os_linux.h"
#include "sys/stats.h"

#include <errno.h>

// Sizes in bytes of the pieces in which memory is committed. The first pieces
// are small, because most programs need little memory. Pieces that end after
// the first HUGE_FROM bytes are whole huge pages, because small pages would
// make lookups in a large table of stacks slow.
#define COMMIT_BYTES ((size_t)256 << 10)
#define HUGE_BYTES ((size_t)2 << 20)
// The reserved address range has at most RLIMIT_AS / LIMIT_SHARE bytes, and at
// most RLIMIT_DATA / LIMIT_SHARE bytes.
#define LIMIT_SHARE 32
#define HUGE_FROM (2 * HUGE_BYTES)

char *mprof_persistent_base
    MPROF_START_DATA; // start of the range; see persistent.h

static struct {
  size_t size;             // bytes in the range; written once, at start
  atomic_size_t used;      // bytes allocated so far; only grows
  atomic_size_t committed; // bytes committed; grows under persistent_lock
  struct mprof_lock lock;  // known as persistent_lock
} persistent = {.lock = MPROF_LOCK_INIT(MPROF_RANK_MEMORY)};

int mprof_persistent_init(size_t max_bytes) {
  // If the process's address space or writable memory is limited, only a small
  // share of the limit is reserved, and the rest is left to the program.
  // Profiling with little memory is better than no profiling.
  uint64_t limit = mprof_sys_memory_limit();
  if (max_bytes > limit / LIMIT_SHARE)
    max_bytes = limit / LIMIT_SHARE;
  for (size_t size = max_bytes; size >= COMMIT_BYTES; size /= 2) {
    char *p = mprof_os_reserve(size + HUGE_BYTES);
    if (!p)
      continue;
    mprof_persistent_base = p + (-(uintptr_t)p & (HUGE_BYTES - 1));
    persistent.size = size / COMMIT_BYTES * COMMIT_BYTES;
    // Offset 0 stays unused, because handle 0 means NULL.
    atomic_store(&persistent.used, MPROF_PERSISTENT_UNIT);
    return 0;
  }
  return -ENOMEM;
}

static size_t round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

static bool commit(size_t end) {
  bool ok = true;
  mprof_lock_acquire(&persistent.lock);
  size_t from = atomic_load(&persistent.committed);
  if (from < end) {
    bool is_huge = end > HUGE_FROM;
    size_t to = round_up(end, is_huge ? HUGE_BYTES : COMMIT_BYTES);
    if (to > persistent.size)
      to = persistent.size;
    ok = mprof_os_commit(mprof_persistent_base + from, to - from, is_huge);
    if (ok)
      atomic_store_explicit(&persistent.committed, to, memory_order_release);
  }
  mprof_lock_release(&persistent.lock);
  return ok;
}

void *mprof_persistent_try_alloc(size_t len) {
  if (len >= persistent.size)
    return NULL;
  len = round_up(len, MPROF_PERSISTENT_UNIT);
  size_t at = atomic_load_explicit(&persistent.used, memory_order_relaxed);
  do {
    if (at > persistent.size - len)
      return NULL;
    // The memory is committed before `used` grows. So if the system has no
    // memory now, `used` is unchanged and a later call can try again at the
    // same offset.
    if (at + len >
            atomic_load_explicit(&persistent.committed, memory_order_acquire) &&
        !commit(at + len))
      return NULL;
  } while (!atomic_compare_exchange_weak(&persistent.used, &at, at + len));
  return mprof_persistent_base + at;
}

void *mprof_persistent_alloc(size_t len) {
  void *p = mprof_persistent_try_alloc(len);
  if (mprof_unlikely(!p))
    mprof_stat_add(MPROF_STAT_no_memory, 1);
  return p;
}

size_t mprof_persistent_used(void) {
  size_t used = atomic_load_explicit(&persistent.used, memory_order_relaxed);
  return used > MPROF_PERSISTENT_UNIT ? used - MPROF_PERSISTENT_UNIT : 0;
}

void mprof_persistent_reset(void) {
  if (!mprof_persistent_base)
    return;
  mprof_lock_reset(&persistent.lock);
  mprof_os_discard(mprof_persistent_base, atomic_load(&persistent.committed));
  atomic_store(&persistent.used, MPROF_PERSISTENT_UNIT);
}
