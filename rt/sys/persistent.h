// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is never freed, and 32-bit handles that identify objects in this
// memory. All of this memory lies in one reserved address range, whose size is
// the option max_memory_mb. A forked child does not keep the data, but starts
// with empty memory.

#ifndef MPROF_RT_SYS_PERSISTENT_H
#define MPROF_RT_SYS_PERSISTENT_H

#include "sys/base.h"

// Returns len bytes of zeroed memory that is never freed, aligned to 64 bytes.
// Returns NULL if max_memory_mb is used up or the system has no memory, and
// counts this failure in the statistic no_memory. Takes a lock only to commit
// more memory. Call with the recursion guard (tls.h) set. (Go: persistentalloc)
void *mprof_persistent_alloc(size_t len);
// Allocates memory as mprof_persistent_alloc does, but does not count a
// failure. Use this function for memory that the caller can do without.
void *mprof_persistent_try_alloc(size_t len);
// The address of each allocation is a multiple of this number of bytes.
#define MPROF_PERSISTENT_UNIT 64u
// Start of the memory. Written once.
extern MPROF_HIDDEN char *mprof_persistent_base;
// A handle is a 32-bit number that identifies an object in this memory. Handle
// 0 means NULL.
static inline uint32_t mprof_persistent_handle(const void *p) {
  return p ? (uint32_t)(((const char *)p - mprof_persistent_base) /
                        MPROF_PERSISTENT_UNIT)
           : 0;
}
static inline void *mprof_persistent_pointer(uint32_t handle) {
  return handle ? mprof_persistent_base + (size_t)handle * MPROF_PERSISTENT_UNIT
                : NULL;
}
// Returns the number of bytes allocated so far.
size_t mprof_persistent_used(void);
// Reserves max_bytes of address space, or less if the system refuses to reserve
// so much. Returns 0 or -ENOMEM. After -ENOMEM, every allocation fails.
int mprof_persistent_init(size_t max_bytes);
// Discards all contents. Called in a forked child and between unit tests.
void mprof_persistent_reset(void);

#endif // MPROF_RT_SYS_PERSISTENT_H
