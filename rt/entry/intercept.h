// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the interceptors of the heap share. Only they include this; it is C and
// C++.

#ifndef MPROF_RT_ENTRY_INTERCEPT_H
#define MPROF_RT_ENTRY_INTERCEPT_H

#include "heap/beneath.h"

#define MPROF_MUSTTAIL __attribute__((musttail))

// Whether code that was not rewritten is counted: the runtime has started, and
// the program has left the whole of malloc's family to it. Written once.

static inline bool mprof_intercepts(void) {
  return __builtin_expect(
      __atomic_load_n(&mprof_intercept_is_on, __ATOMIC_RELAXED), 1);
}

// Takes size off the countdown, as a site does; whether the entry is to be
// called instead of the function beneath.
// Inlined, so that the return address is the interceptor's.
__attribute__((always_inline)) static inline bool
mprof_intercept_asks(size_t size) {
  return __builtin_expect(mprof_count_down(size), 0) &&
         mprof_intercept_counts(size, __builtin_return_address(0));
}

#endif // MPROF_RT_ENTRY_INTERCEPT_H
