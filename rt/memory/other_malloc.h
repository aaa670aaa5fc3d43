// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Other allocators than glibc's malloc: jemalloc, tcmalloc and mimalloc. Their
// heaps are not walked. Some of them say themselves what they hold.

#ifndef MPROF_RT_MEMORY_OTHER_MALLOC_H
#define MPROF_RT_MEMORY_OTHER_MALLOC_H

#include "memory/glibc_malloc.h"

// Returns whether a library is an allocator, such as libjemalloc.so.2. name:
// the name of its file without the directory.
bool mprof_other_malloc_is(const char *name);

struct mprof_other_malloc {
  const char *name; // of the allocator; NULL: none says what it holds
  // What the allocator of this process holds, in bytes. At most one of the
  // numbers is MPROF_OTHER_MALLOC_REST: all that the other numbers leave.
  uint64_t bytes[MPROF_HEAP_SORTS];
};
#define MPROF_OTHER_MALLOC_REST UINT64_MAX

// Asks the allocator of this process. It takes its own locks, so do not call
// this function in a signal handler.
struct mprof_other_malloc mprof_other_malloc_ask(void);

// Sets the answer for accounts that are taken from now on, so that they do not
// ask; NULL: they ask. Call with writer_lock held.
void mprof_other_malloc_answer(const struct mprof_other_malloc *said);
// Returns this answer, or asks.
struct mprof_other_malloc mprof_other_malloc_said(void);

#endif // MPROF_RT_MEMORY_OTHER_MALLOC_H
