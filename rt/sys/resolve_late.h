// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooked functions that are not libc's. The entries refer to them weakly, so a
// program that opens its first C++ library at run time has none of them when
// its references are bound.

#ifndef MPROF_RT_SYS_RESOLVE_LATE_H
#define MPROF_RT_SYS_RESOLVE_LATE_H

#include "sys/base.h"

// What a reference has found.
struct mprof_found {
  // Of the unloads until it was looked for; see resolve_late.c.
  _Atomic uint64_t when;
  _Atomic(void *) function;
};

// The function, or where the program had none when it started, that which the
// library of the entry's caller is linked with.
#define REAL(f) REAL_(f)
#define REAL_(f)                                                               \
  ({                                                                           \
    static struct mprof_found found_;                                          \
    __typeof__(&f) real_ = f;                                                  \
    if (mprof_unlikely(!real_))                                                \
      real_ = (__typeof__(&f))mprof_find_real(#f, &found_,                     \
                                              __builtin_return_address(0));    \
    real_;                                                                     \
  })

// Asks the loader: here a call would have gone nowhere. Once, and again after
// an unload, which may have taken the function away. No lock but the loader's.
// errno stays.
void *mprof_find_real(const char *symbol, struct mprof_found *found,
                      void *caller);

// How often that was said.
uint64_t mprof_real_unloads(void);
// A library is about to be unloaded, or was. Signal safe.
void mprof_real_forget(void);

#endif // MPROF_RT_SYS_RESOLVE_LATE_H
