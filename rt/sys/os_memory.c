// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests memory from the system, and keeps a table of the runtime's mappings;
// see os.h.
//
// All memory that the runtime gets from the system, including the memory of
// persistent.c, is requested by functions in this file. Tests make these
// requests fail with mprof_os_fail_map.

#include "sys/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

// If this variable is n > 0, the n-th request for memory from now on fails. If
// it is 0, no request fails. Only tests set this variable.
static atomic_int fail_in;

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

// --- memory that may not be mapped ---

long mprof_os_peek(uintptr_t addr, void *buf, size_t len) {
  // The link thread-self works even if the process's first thread has ended.
  const long fd =
      mprof_sys_open("/proc/thread-self/mem", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return fd;
  const long n = mprof_sys_pread((int)fd, buf, len, addr);
  mprof_sys_close((int)fd);
  return n;
}

bool mprof_os_copy(void *to, uintptr_t from, size_t len) {
  long n = mprof_sys_try_copy(to, from, len);
  if (n >= 0 || n == -EFAULT)
    return n == (long)len;
  n = mprof_os_peek(from, to, len);
  if (n >= 0 || n == -EIO)
    return n == (long)len;
  if (from + len < from)
    return false;
  for (uintptr_t page = from & -(uintptr_t)MPROF_PAGE; page < from + len;
       page += MPROF_PAGE)
    if (!mprof_sys_readable(page))
      return false;
  // Not by memcpy, which a sanitizer's runtime may replace. ThreadSanitizer
  // maps a file into its shadow memory, of which its own memcpy must not read.
  const volatile char *bytes = (const volatile char *)from;
  for (size_t i = 0; i < len; i++)
    ((char *)to)[i] = bytes[i];
  return true;
}

// The kernel atomically adds 0 to the bytes, which changes nothing. No thread
// waits for `none`.
bool mprof_sys_is_read_only(uintptr_t addr) {
  const uint32_t none = 0;
  return mprof_sys_readable(addr & -(uintptr_t)8) &&
         mprof_syscall(
             SYS_futex, (long)&none, FUTEX_WAKE_OP_PRIVATE, 0, 0, (long)addr,
             FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) == -EFAULT;
}

// --- pages ---

uintptr_t mprof_sys_page_size(void) { return getauxval(AT_PAGESZ); }

long mprof_sys_mprotect(uintptr_t start, size_t len, int protection) {
  return mprof_syscall4(SYS_mprotect, (long)start, (long)len, protection, 0);
}

long mprof_sys_mincore(uintptr_t start, size_t len, unsigned char *pages) {
  return mprof_syscall4(SYS_mincore, (long)start, (long)len, (long)pages, 0);
}

uintptr_t mprof_sys_break(void) {
  return (uintptr_t)mprof_syscall3(SYS_brk, 0, 0, 0);
}

size_t mprof_sys_shm_size(int id) {
  struct shmid_ds s;
  return mprof_syscall3(SYS_shmctl, id, IPC_STAT, (long)&s) < 0 ? 0
                                                                : s.shm_segsz;
}
