// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is never freed, and 32-bit handles that name objects in it. All
// of it lies in one reserved address range of max_memory_mb. The data of one
// process are not kept for a forked child, which starts anew.

#ifndef MPROF_RT_SYS_PERSISTENT_H
#define MPROF_RT_SYS_PERSISTENT_H

#include "sys/base.h"

// Returns zeroed memory that is never freed, aligned to 64 bytes.
// (Go: persistentalloc) Returns NULL, which is counted as lost, if
// max_memory_mb are used or the system has no memory. Takes a lock only to
// commit more memory. Call with the guard set.
void *mprof_persistent_alloc(size_t len);
// Allocates memory that the caller can do without: a failure is not counted as
// lost.
void *mprof_persistent_try_alloc(size_t len);
// Each address is a multiple of this, in bytes.
#define MPROF_PERSISTENT_UNIT 64u
extern char *mprof_persistent_base; // written once by mprof_persistent_init
// Handles: 32-bit names of objects in this memory. 0 stands for NULL.
static inline uint32_t mprof_persistent_handle(const void *p) {
  return p ? (uint32_t)(((const char *)p - mprof_persistent_base) /
                        MPROF_PERSISTENT_UNIT)
           : 0;
}
static inline void *mprof_persistent_pointer(uint32_t handle) {
  return handle ? mprof_persistent_base + (size_t)handle * MPROF_PERSISTENT_UNIT
                : NULL;
}
// Returns the number of bytes handed out.
size_t mprof_persistent_used(void);
// Reserves max_bytes of address space, or less if the system refuses. Returns 0
// or -ENOMEM; after -ENOMEM every allocation fails.
int mprof_persistent_init(size_t max_bytes);
// Forgets all contents, in a forked child and between unit tests.
void mprof_persistent_reset(void);

#endif // MPROF_RT_SYS_PERSISTENT_H
