// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory mappings, and memory that may not be mapped, by Linux system calls
// that bypass libc. What os_linux.h says about its functions holds for these
// functions, too.

#ifndef MPROF_RT_SYS_OS_MEMORY_H
#define MPROF_RT_SYS_OS_MEMORY_H

#include "sys/base.h"

// Maps len bytes of zeroed private memory. Returns NULL on failure. Free the
// memory with mprof_os_unmap.
void *mprof_os_map(size_t len);
void mprof_os_unmap(void *p, size_t len);
// Maps memory as mprof_os_map does, but forked children share the memory.
void *mprof_os_map_shared(size_t len);
// mprof_os_reserve reserves address space without memory and returns NULL on
// failure. mprof_os_commit provides memory for a part of this address space,
// and returns false if the system has no memory. in_huge_pages: asks the kernel
// for huge pages.
void *mprof_os_reserve(size_t len);
bool mprof_os_commit(void *p, size_t len, bool in_huge_pages);
// Replaces the len bytes at p, which mprof_os_reserve has reserved, by address
// space without memory.
void mprof_os_reserve_again(void *p, size_t len);
// Maps len bytes of a file, from `offset` on, at p, which mprof_os_reserve has
// reserved. is_shared: changes reach the file. Returns 0 or -errno.
long mprof_os_map_file(void *p, size_t len, int fd, uint64_t offset,
                       bool is_shared);
// Replaces the len bytes of mapped memory at p, for example of a file, by
// private memory with the same contents. What another thread writes meanwhile
// is lost. Returns 0 or -errno.
long mprof_os_make_private(void *p, size_t len);
// Makes the kernel leave out the len bytes of mapped memory at p when it copies
// the process's memory for a forked child. The range is unmapped in the child.
void mprof_os_keep_from_children(void *p, size_t len);
// Reads entry i of the table of the runtime's own mappings, which mprof_os_map
// and mprof_os_reserve have made. Stores the mapping in *start and *len; *len
// is 0 if the entry is unused. Returns false if i is past the table's end. The
// table has 256 entries. When the table is full, further mappings are not
// recorded.
bool mprof_os_own_map(size_t i, uintptr_t *start, size_t *len);
// Gives the len bytes of memory at p back to the system. The range stays mapped
// and then reads as zeros, also if the system does not take the memory back.
void mprof_os_discard(void *p, size_t len);
// Provides the pages of the len bytes of mapped memory at p by one system call,
// so that the first accesses cause no page faults. Does nothing if the kernel
// is older than Linux 5.14, or if p is not the begin of one of the kernel's
// pages.
void mprof_os_populate(void *p, size_t len);
// Makes the n-th request for memory from now on fail, for tests. Later requests
// succeed again. n = 0: no request fails.
void mprof_os_fail_map(int n);

// Copies up to len bytes at address addr of this process to buf. The kernel
// makes the copy, so no fault can occur if another thread unmaps the memory.
// Returns the number of bytes that could be read, or -errno.
long mprof_os_peek(uintptr_t addr, void *buf, size_t len);
// Copies len bytes at address `from` of this process, which the program may
// unmap at any time. Returns false if not all of them are readable. The kernel
// makes the copy, so no fault can occur. Only if it refuses to do so (seccomp,
// no /proc), the function checks that each page is readable, and then reads.
// Async-signal-safe.
bool mprof_os_copy(void *to, uintptr_t from, size_t len);
// Returns whether the four bytes at addr, a multiple of 4, are in memory that
// must not be written. Returns false if a seccomp filter refuses the call.
bool mprof_sys_is_read_only(uintptr_t addr);
// Stores in pages[i] whether page i of a mapping is in memory. Returns 0 or
// -errno.
long mprof_sys_mincore(uintptr_t start, size_t len, unsigned char *pages);
// Changes the access rights of the pages of a mapping to protection. Returns 0
// or -errno.
long mprof_sys_mprotect(uintptr_t start, size_t len, int protection);

#endif // MPROF_RT_SYS_OS_MEMORY_H
