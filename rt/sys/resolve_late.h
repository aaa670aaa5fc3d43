// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the real definitions of hooked functions that are not in libc, such as
// operator new. The entries refer to these functions weakly. A program that
// opens its first C++ library at run time has none of them when its own
// references are bound. Then the loader is asked at the first call.

#ifndef MPROF_RT_SYS_RESOLVE_LATE_H
#define MPROF_RT_SYS_RESOLVE_LATE_H

#include "sys/base.h"

// The cached result of a search.
struct mprof_found {
  // Number of unloads at the time of the search, encoded; see resolve_late.c.
  _Atomic uint64_t when;
  _Atomic(void *) function;
};

// The function f. If the program had none when it started, this is the f with
// which the library of the entry's caller is linked.
#define REAL(f) REAL_(f)
#define REAL_(f)                                                               \
  ({                                                                           \
    static struct mprof_found found_;                                          \
    __typeof__(&f) real_ = f;                                                  \
    if (mprof_unlikely(!real_))                                                \
      real_ = (__typeof__(&f))mprof_resolve_late(#f, &found_,                  \
                                                 __builtin_return_address(0)); \
    real_;                                                                     \
  })

// Asks the loader for a function without which the call would go to address 0.
// The result is cached until a library is unloaded, which may take the function
// away. Takes no lock but the loader's. Keeps errno. Returns NULL if there is
// no such function.
void *mprof_resolve_late(const char *symbol, struct mprof_found *found,
                         void *caller);

// Returns the number of mprof_resolve_forget calls.
uint64_t mprof_resolve_unloads(void);
// Drops the cached results, since a library was or will be unloaded. Signal
// safe.
void mprof_resolve_forget(void);

#endif // MPROF_RT_SYS_RESOLVE_LATE_H
