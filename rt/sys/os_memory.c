// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests memory from the system, and keeps a table of the runtime's mappings;
// see os_memory.h.
//
// All memory that the runtime gets from the system, including the memory of
// persistent.c, is requested by functions in this file. Tests make these
// requests fail with mprof_os_fail_map.

#include "sys/os_memory.h"

#include "sys/kernel_call.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

// If this variable is n > 0, the n-th request for memory from now on fails. If
// it is 0, no request fails. Only tests set this variable.
static atomic_int fail_in MPROF_START_DATA;

void mprof_os_fail_map(int n) { atomic_store(&fail_in, n); }

static bool must_fail(void) {
  return mprof_unlikely(atomic_load_explicit(&fail_in, memory_order_relaxed)) &&
         atomic_fetch_sub(&fail_in, 1) == 1;
}

// The memory mappings of the runtime itself. With this table, these mappings
// can be distinguished from the program's memory. If the table is full, further
// mappings are not recorded.
static struct {
  _Atomic uintptr_t start; // 0: unused
  _Atomic size_t len;
} own_maps[256];

static void note_map(uintptr_t start, size_t len) {
  for (size_t i = 0; i < sizeof(own_maps) / sizeof(own_maps[0]); i++) {
    uintptr_t none = 0;
    if (atomic_compare_exchange_strong(&own_maps[i].start, &none, start)) {
      atomic_store(&own_maps[i].len, len);
      return;
    }
  }
}

static void forget_map(uintptr_t start) {
  for (size_t i = 0; i < sizeof(own_maps) / sizeof(own_maps[0]); i++)
    if (atomic_load(&own_maps[i].start) == start) {
      atomic_store(&own_maps[i].len, 0);
      atomic_store(&own_maps[i].start, 0);
      return;
    }
}

bool mprof_os_own_map(size_t i, uintptr_t *start, size_t *len) {
  if (i >= sizeof(own_maps) / sizeof(own_maps[0]))
    return false;
  *start = atomic_load(&own_maps[i].start);
  *len = *start ? atomic_load(&own_maps[i].len) : 0;
  return true;
}

static void *map(size_t len, int prot, int flags) {
  if (must_fail())
    return NULL;
  long p =
      mprof_syscall(SYS_mmap, 0, (long)len, prot, MAP_ANONYMOUS | flags, -1, 0);
  if (p < 0 && p > -4096)
    return NULL;
  note_map((uintptr_t)p, len);
  return (void *)p;
}

void *mprof_os_map(size_t len) {
  return map(len, PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

void *mprof_os_map_shared(size_t len) {
  return map(len, PROT_READ | PROT_WRITE, MAP_SHARED);
}

void mprof_os_unmap(void *p, size_t len) {
  // The table's entry is removed before munmap, because another thread may get
  // a mapping at this address right after munmap.
  forget_map((uintptr_t)p);
  mprof_syscall3(SYS_munmap, (long)p, (long)len, 0);
}

void *mprof_os_reserve(size_t len) {
  void *p = map(len, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
  // Forbids huge pages. Otherwise the kernel may provide a huge page when only
  // the first few KiB are used, and the whole page would count as memory of the
  // program.
  if (p)
    mprof_syscall3(SYS_madvise, (long)p, (long)len, MADV_NOHUGEPAGE);
  return p;
}

void mprof_os_reserve_again(void *p, size_t len) {
  if (len == 0)
    return;
  mprof_syscall(SYS_mmap, (long)p, (long)len, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  mprof_syscall3(SYS_madvise, (long)p, (long)len, MADV_NOHUGEPAGE);
}

long mprof_os_map_file(void *p, size_t len, int fd, uint64_t offset,
                       bool is_shared) {
  const long at = mprof_syscall(
      SYS_mmap, (long)p, (long)len, PROT_READ | PROT_WRITE,
      (is_shared ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED, fd, (long)offset);
  return at < 0 && at > -4096 ? at : 0;
}

long mprof_os_make_private(void *p, size_t len) {
  const long copy =
      mprof_syscall(SYS_mmap, 0, (long)len, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy < 0 && copy > -4096)
    return copy;
  memcpy((void *)copy, p, len);
  const long at = mprof_syscall(SYS_mremap, copy, (long)len, (long)len,
                                MREMAP_MAYMOVE | MREMAP_FIXED, (long)p, 0);
  if (at >= 0 || at <= -4096)
    return 0;
  mprof_syscall3(SYS_munmap, copy, (long)len, 0);
  return at;
}

bool mprof_os_commit(void *p, size_t len, bool in_huge_pages) {
  if (must_fail() || mprof_syscall3(SYS_mprotect, (long)p, (long)len,
                                    PROT_READ | PROT_WRITE) != 0)
    return false;
  if (in_huge_pages)
    mprof_syscall3(SYS_madvise, (long)p, (long)len, MADV_HUGEPAGE);
  return true;
}

void mprof_os_keep_from_children(void *p, size_t len) {
  mprof_syscall3(SYS_madvise, (long)p, (long)len, MADV_DONTFORK);
}

void mprof_os_populate(void *p, size_t len) {
  enum { POPULATE_WRITE = 23 }; // value of MADV_POPULATE_WRITE
  mprof_syscall3(SYS_madvise, (long)p, (long)len, POPULATE_WRITE);
}

void mprof_os_discard(void *p, size_t len) {
  // The call fails if a seccomp filter refuses it, or if the program has locked
  // its memory (mlockall).
  if (mprof_syscall3(SYS_madvise, (long)p, (long)len, MADV_DONTNEED) != 0)
    memset(p, 0, len);
}
