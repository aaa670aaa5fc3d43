// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that libc, the loader and the C++ library allocate for themselves and
// keep until the process ends, such as the environment of setenv. They are no
// leaks of the program. Blocks that the program must free by a function of
// libc, such as freelocale, are leaks.

#ifndef MPROF_TOOL_KEPT_BY_LIBC_H
#define MPROF_TOOL_KEPT_BY_LIBC_H

#include "leaks/suppressions.h"

enum keeper {
  KEPT_BY_NOBODY,
  KEPT_BY_LIBC,
  // libc keeps the block with the stack of a thread. It frees the block if the
  // thread has ended, and was joined or detached.
  KEPT_WITH_THREAD
};

// Lists of functions. A list of zeros is empty, so nothing is kept.
struct kept_by_libc {
  struct suppressions keep, keep_own, threads, callers, locales;
  bool has_only_global; // there are no more locales than global ones of C++
};

// Fills *k, which is zero, for the profile.
void kept_by_libc_init(struct kept_by_libc *k, const struct profile *p);
// Returns who keeps the sample's blocks. Only the innermost frames of standard
// libraries count: a constructor of a plugin that dlopen calls may leak. In a
// static program, the mapping does not tell which functions are those of libc.
// So only the innermost frame counts, if its name is a reserved one of the list
// and it has no source file.
enum keeper kept_by_libc_find(struct kept_by_libc *k, const struct profile *p,
                              const struct sample *sample);

// Returns for how many threads libc may keep storage: the live threads, and
// those with a stack in glibc's cache. The comment "threads_now: N" of a heap
// profile is the number of live threads.
double kept_by_libc_threads(const struct profile *p);

#endif
