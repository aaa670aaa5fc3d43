// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of the heap's interceptors. An interceptor is a function named
// malloc, operator new or similar, which the runtime defines so that
// uninstrumented code calls it. Only the interceptors include this header. It
// is valid C and C++.

#ifndef MPROF_RT_ENTRY_INTERCEPT_H
#define MPROF_RT_ENTRY_INTERCEPT_H

#include "heap/beneath.h"

#define MPROF_MUSTTAIL __attribute__((musttail))

// Returns whether calls of uninstrumented code are counted: the runtime has
// started, and the program itself defines no function of malloc's family.
static inline bool mprof_intercepts(void) {
  return __builtin_expect(
      __atomic_load_n(&mprof_intercept_is_on, __ATOMIC_RELAXED), 1);
}

// Subtracts size from the countdown, as a site does. Returns whether the
// interceptor must call the entry instead of the allocator's function. Inlined,
// so that the return address is the interceptor's.
__attribute__((always_inline)) static inline bool
mprof_intercept_asks(size_t size) {
  return __builtin_expect(mprof_count_down(size), 0) &&
         mprof_intercept_counts(size, __builtin_return_address(0));
}

#endif // MPROF_RT_ENTRY_INTERCEPT_H
