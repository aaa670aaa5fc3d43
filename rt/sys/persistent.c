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
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"

#include <errno.h>
#include <string.h>

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

char *mprof_persistent_base; // start of the range; see persistent.h
struct mprof_persist_head *mprof_persist_head;

static struct {
  size_t size;              // bytes in the range; written once, at start
  size_t trace_size;        // its bytes for the trace; written once, at start
  atomic_size_t trace_left; // bytes of trace_size that are still unused
  atomic_size_t used;       // bytes allocated so far; only grows
  atomic_size_t committed;  // bytes committed; grows under persistent_lock
  struct mprof_lock lock;   // known as persistent_lock
  // Provides memory that lies in a file; NULL: there is no file. Written once,
  // at start.
  bool (*commit_file)(char *base, size_t offset, size_t len);
  bool is_in_file; // a part of the memory was in a file; under persistent_lock
} persistent = {.lock = MPROF_LOCK_INIT(MPROF_RANK_MEMORY)};

static size_t round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Leaves the begin of the memory unused, because handle 0 means NULL, and for
// the head of a file.
static void begin(void) {
  atomic_store(
      &persistent.used,
      persistent.commit_file != NULL
          ? round_up(sizeof(struct mprof_persist_head), MPROF_PERSISTENT_UNIT)
          : MPROF_PERSISTENT_UNIT);
  atomic_store(&persistent.trace_left, persistent.trace_size);
}

void mprof_persistent_use_file(bool (*commit)(char *base, size_t offset,
                                              size_t len)) {
  persistent.commit_file = commit;
  begin();
}

int mprof_persistent_init(size_t max_bytes, size_t trace_bytes) {
  // If the process's address space or writable memory is limited, only a small
  // share of the limit is reserved, and the rest is left to the program.
  // Profiling with little memory is better than no profiling.
  uint64_t limit = mprof_sys_memory_limit();
  const size_t wanted = max_bytes + trace_bytes;
  size_t size = wanted;
  if (size > limit / LIMIT_SHARE)
    size = limit / LIMIT_SHARE;
  for (; size >= COMMIT_BYTES; size /= 2) {
    char *p = mprof_os_reserve(size + HUGE_BYTES);
    if (!p)
      continue;
    mprof_persistent_base = p + (-(uintptr_t)p & (HUGE_BYTES - 1));
    persistent.size = size / COMMIT_BYTES * COMMIT_BYTES;
    persistent.trace_size =
        size == wanted || trace_bytes < size / 2 ? trace_bytes : size / 2;
    begin();
    return 0;
  }
  return -ENOMEM;
}

// Provides memory for the pieces from `from` to `to`. Once a piece is not in
// the file, the later pieces are not, either.
static bool provide_locked(size_t from, size_t to, bool is_huge) {
  char *at = mprof_persistent_base + from;
  if (mprof_unlikely(persistent.commit_file != NULL) &&
      (from == 0 || persistent.is_in_file)) {
    persistent.is_in_file =
        persistent.commit_file(mprof_persistent_base, from, to - from);
    if (persistent.is_in_file)
      return true;
  }
  return mprof_os_commit(at, to - from, is_huge);
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
    ok = provide_locked(from, to, is_huge);
    if (ok)
      atomic_store_explicit(&persistent.committed, to, memory_order_release);
  }
  mprof_lock_release(&persistent.lock);
  return ok;
}

// Allocates len bytes, but leaves `left` bytes of the range unused.
static void *take(size_t len, size_t left) {
  const size_t size = persistent.size - left;
  if (len >= size)
    return NULL;
  len = round_up(len, MPROF_PERSISTENT_UNIT);
  size_t at = atomic_load_explicit(&persistent.used, memory_order_relaxed);
  do {
    if (at > size - len)
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

void *mprof_persistent_try_alloc(size_t len) {
  return take(
      len, atomic_load_explicit(&persistent.trace_left, memory_order_relaxed));
}

void *mprof_persistent_trace_alloc(size_t len) {
  const size_t left = atomic_load(&persistent.trace_left);
  void *p = len <= left ? take(len, left - len) : NULL;
  if (p != NULL)
    atomic_store(&persistent.trace_left, left - len);
  return p;
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
  const size_t committed = atomic_load(&persistent.committed);
  if (persistent.commit_file != NULL) {
    // The pages of a file would not become zeros.
    mprof_os_reserve_again(mprof_persistent_base, committed);
    atomic_store(&persistent.committed, 0);
    mprof_persist_head = NULL;
  } else {
    mprof_os_discard(mprof_persistent_base, committed);
  }
  begin();
}

void mprof_persistent_leave_file(void (*make_private)(char *base, size_t len)) {
  if (mprof_persist_head == NULL)
    return;
  mprof_persist_head = NULL;
  make_private(mprof_persistent_base, atomic_load(&persistent.committed));
}

void mprof_persistent_stop_file(void (*move_out)(void)) {
  mprof_lock_acquire(&persistent.lock);
  move_out();
  persistent.is_in_file = false;
  mprof_lock_release(&persistent.lock);
}

void *mprof_persist_note(enum mprof_persist_note_type type, const void *data,
                         size_t len, const void *tail, size_t tail_len) {
  if (mprof_likely(mprof_persist_head == NULL))
    return NULL;
  struct mprof_persist_note *n =
      mprof_persistent_alloc(sizeof(*n) + len + tail_len);
  if (n == NULL || !mprof_persist_has(n, sizeof(*n) + len + tail_len))
    return NULL;
  n->type = type;
  n->len = (uint32_t)(len + tail_len);
  memcpy(n + 1, data, len);
  if (tail_len != 0)
    memcpy((char *)(n + 1) + len, tail, tail_len);
  uint64_t *root = &mprof_persist_head->roots[MPROF_PERSIST_NOTES];
  n->next = __atomic_load_n(root, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(root, &n->next, (uintptr_t)n, true,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  return n + 1;
}
