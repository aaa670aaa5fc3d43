// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is never freed, and 32-bit names of it.

#ifndef MPROF_RT_SYS_PERSISTENT_H
#define MPROF_RT_SYS_PERSISTENT_H

#include "sys/base.h"

// Zeroed memory that is never freed (Go: persistentalloc), aligned to 64 bytes;
// NULL, counted as lost, once max_memory_mb are used or the system has none.
// Lock-free but for the growth of the committed part.
void *mprof_persistent_alloc(size_t len);
// The same for what can be done without: its lack is no loss.
void *mprof_persistent_try_alloc(size_t len);
// What its addresses are multiples of.
#define MPROF_PERSISTENT_UNIT 64u
extern char *mprof_persistent_base; // written once by mprof_persistent_init
// Handles: names of that memory that fit 32 bits; 0 is NULL.
static inline uint32_t mprof_persistent_handle(const void *p) {
  return p ? (uint32_t)(((const char *)p - mprof_persistent_base) /
                        MPROF_PERSISTENT_UNIT)
           : 0;
}
static inline void *mprof_persistent_pointer(uint32_t handle) {
  return handle ? mprof_persistent_base + (size_t)handle * MPROF_PERSISTENT_UNIT
                : NULL;
}
// Bytes handed out, and of those the ones for the bucket table.
size_t mprof_persistent_used(void);
// Reserves max_bytes of address space, less where the system refuses. Returns
// 0 or ENOMEM, and then every allocation fails.
int mprof_persistent_init(size_t max_bytes);
// Forgets everything: in a forked child, and between unit tests.
void mprof_persistent_reset(void);

#endif // MPROF_RT_SYS_PERSISTENT_H
