// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the functions that map and unmap memory: the functions __mprof_f
// that instrumented code calls in place of f. The ledger (mapped_ranges.h)
// gets what the kernel has done. A failed call changes nothing in it.

#include "bucket/bucket.h"
#include "lock_wait/lock_order.h"
#include "memory/mapped_ranges.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

// Weak, so that a static program is linked only with the functions that it
// calls.
#pragma weak mmap
#pragma weak mremap
#pragma weak munmap
#pragma weak brk
#pragma weak sbrk
#pragma weak shmat
#pragma weak shmdt
// musl's headers define mmap64 as another name of mmap.
#undef mmap64
void *mmap64(void *at, size_t len, int rights, int flags, int fd, off_t offset)
    __attribute__((weak));

#define ENTRY_FRAME ((uintptr_t)__builtin_frame_address(0))

static bool is_on(void) {
  return mprof_process_ready() && mprof_flags.mmap &&
         mprof_flags.stack_depth != 0;
}

static uintptr_t round_up(uintptr_t n) {
  const uintptr_t page = mprof_sys_page_size();
  return (n + page - 1) & -page;
}

static uintptr_t limit_of(const void *at, size_t len) {
  return round_up((uintptr_t)at + len);
}

// Adds [start, limit) to the ledger.
static void add(uintptr_t start, uintptr_t limit, bool grows, uintptr_t frame) {
  const int before = errno;
  if (mprof_guard_enter()) {
    struct mprof_thread *t = mprof_thread_self(true);
    struct mprof_bucket_key key = {.type = MPROF_BUCKET_MAP};
    struct mprof_bucket *b = t ? mprof_bucket_at(t, &key, 0, frame) : NULL;
    if (b)
      mprof_ranges_map(start, limit, b, grows);
    mprof_guard_leave();
  } else {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
  }
  errno = before;
}

// --- unmapping ---

// What was removed from the ledger during a call that may fail.
struct unmapping {
  struct mprof_ranges *ranges;
  // A signal handler may fork during the call. The child's ledger is another
  // one.
  uint32_t epoch;
};

static struct unmapping begin(uintptr_t start, uintptr_t limit) {
  struct unmapping u = {NULL, mprof_process_epoch()};
  const int before = errno;
  if (start >= limit)
    return u;
  if (mprof_guard_enter()) {
    u.ranges = mprof_ranges_take(start, limit);
    mprof_guard_leave();
  } else {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
  }
  errno = before;
  return u;
}

// stays: the call has failed, or has moved the memory by `distance` bytes. What
// is then at `limit` or above it is unmapped.
static void end(const struct unmapping *u, bool stays, uintptr_t distance,
                uintptr_t limit) {
  const int before = errno;
  if (u->ranges == NULL || u->epoch != mprof_process_epoch() ||
      !mprof_guard_enter())
    return;
  if (stays)
    mprof_ranges_give_back(u->ranges, distance, limit);
  else
    mprof_ranges_drop(u->ranges);
  mprof_guard_leave();
  errno = before;
}

static void end_all(const struct unmapping *u, bool has_failed) {
  end(u, has_failed, 0, UINTPTR_MAX);
}

// --- mmap, munmap, mremap ---

MPROF_ENTRY void *__mprof_mmap(void *at, size_t len, int rights, int flags,
                               int fd, off_t offset);
MPROF_ENTRY void *__mprof_mmap(void *at, size_t len, int rights, int flags,
                               int fd, off_t offset) {
  void *const p = mmap(at, len, rights, flags, fd, offset);
  if (p != MAP_FAILED && is_on())
    add((uintptr_t)p, limit_of(p, len), false, ENTRY_FRAME);
  return p;
}

MPROF_ENTRY void *__mprof_mmap64(void *at, size_t len, int rights, int flags,
                                 int fd, off_t offset);
MPROF_ENTRY void *__mprof_mmap64(void *at, size_t len, int rights, int flags,
                                 int fd, off_t offset) {
  void *const p = mmap64(at, len, rights, flags, fd, offset);
  if (p != MAP_FAILED && is_on())
    add((uintptr_t)p, limit_of(p, len), false, ENTRY_FRAME);
  return p;
}

// The kernel refuses an address that is not the begin of a page.
MPROF_ENTRY int __mprof_munmap(void *at, size_t len);
MPROF_ENTRY int __mprof_munmap(void *at, size_t len) {
  if (mprof_order_on)
    mprof_order_freed((uintptr_t)at, len);
  if (!is_on() || (uintptr_t)at % mprof_sys_page_size() != 0)
    return munmap(at, len);
  const struct unmapping u = begin((uintptr_t)at, limit_of(at, len));
  const int result = munmap(at, len);
  end_all(&u, result != 0);
  return result;
}

// With MREMAP_DONTUNMAP, and with an old size of 0, the old mapping stays, and
// the new one is another one. Otherwise the bytes stay with the stacks that
// have mapped them, and what the mapping grows by belongs to the caller.
MPROF_ENTRY void *__mprof_mremap(void *at, size_t old_len, size_t len,
                                 int flags, ...);
MPROF_ENTRY void *__mprof_mremap(void *at, size_t old_len, size_t len,
                                 int flags, ...) {
  enum { DONTUNMAP = 4 }; // value of MREMAP_DONTUNMAP
  va_list more;
  va_start(more, flags);
  void *const to = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
  va_end(more);
  if (!is_on() || (uintptr_t)at % mprof_sys_page_size() != 0)
    return mremap(at, old_len, len, flags, to);
  const uintptr_t start = (uintptr_t)at, limit = limit_of(at, old_len);
  const bool stays = old_len == 0 || flags & DONTUNMAP;
  const struct unmapping u = begin(start, stays ? start : limit);
  void *const p = mremap(at, old_len, len, flags, to);
  if (p == MAP_FAILED) {
    end_all(&u, true);
    return p;
  }
  const uintptr_t now = (uintptr_t)p, now_limit = limit_of(p, len);
  // MREMAP_FIXED has replaced what was there.
  const struct unmapping replaced = begin(now, now_limit);
  end_all(&replaced, false);
  end(&u, true, now - start, now_limit);
  if (stays)
    add(now, now_limit, false, ENTRY_FRAME);
  else if (now_limit - now > limit - start)
    add(now + (limit - start), now_limit, true, ENTRY_FRAME);
  return p;
}

// --- brk ---

MPROF_ENTRY int __mprof_brk(void *to);
MPROF_ENTRY int __mprof_brk(void *to) {
  if (!is_on())
    return brk(to);
  const uintptr_t old = mprof_sys_break();
  const struct unmapping u = begin((uintptr_t)to, old);
  const int result = brk(to);
  // libc reports success although the kernel ignores an address below the heap.
  end_all(&u, result != 0 || mprof_sys_break() > (uintptr_t)to);
  if (result == 0 && (uintptr_t)to > old)
    add(old, (uintptr_t)to, true, ENTRY_FRAME);
  return result;
}

MPROF_ENTRY void *__mprof_sbrk(intptr_t bytes);
MPROF_ENTRY void *__mprof_sbrk(intptr_t bytes) {
  if (bytes == 0 || !is_on())
    return sbrk(bytes);
  const uintptr_t old = mprof_sys_break();
  const struct unmapping u = begin(old + (uintptr_t)bytes, old);
  void *const p = sbrk(bytes);
  end_all(&u, p == MAP_FAILED);
  if (p != MAP_FAILED && bytes > 0)
    add((uintptr_t)p, (uintptr_t)p + (uintptr_t)bytes, true, ENTRY_FRAME);
  return p;
}

// --- shared memory of System V ---

MPROF_ENTRY void *__mprof_shmat(int id, const void *at, int flags);
MPROF_ENTRY void *__mprof_shmat(int id, const void *at, int flags) {
  void *const p = shmat(id, at, flags);
  if (p != MAP_FAILED && is_on())
    add((uintptr_t)p, limit_of(p, mprof_sys_shm_size(id)), false, ENTRY_FRAME);
  return p;
}

// Only the kernel knows the size of the segment. It detaches the mapping that
// begins at this address.
MPROF_ENTRY int __mprof_shmdt(const void *at);
MPROF_ENTRY int __mprof_shmdt(const void *at) {
  uintptr_t limit = (uintptr_t)at;
  if (!is_on())
    return shmdt(at);
  if (mprof_guard_enter()) {
    limit = mprof_ranges_limit((uintptr_t)at);
    mprof_guard_leave();
  }
  const struct unmapping u = begin((uintptr_t)at, limit);
  const int result = shmdt(at);
  end_all(&u, result != 0);
  return result;
}
