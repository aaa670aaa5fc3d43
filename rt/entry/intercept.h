// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of the heap's interceptors. An interceptor is the runtime's own
// definition of malloc, operator new or a similar function. Uninstrumented code
// calls the interceptor. Only interceptors include this header. It is valid in
// C and in C++.

#ifndef MPROF_RT_ENTRY_INTERCEPT_H
#define MPROF_RT_ENTRY_INTERCEPT_H

#include "heap/beneath.h"

#define MPROF_MUSTTAIL __attribute__((musttail))

// Returns whether the calls of a family by uninstrumented code are counted.
// is_on: &mprof_intercept_is_on.c or &mprof_intercept_is_on.cxx. The calls are
// counted if the runtime has started and all calls of the family reach the
// interceptors.
static inline bool mprof_intercepts(const unsigned char *is_on) {
  return __builtin_expect(__atomic_load_n(is_on, __ATOMIC_RELAXED) != 0, 1);
}

// Returns whether an interceptor must call the entry __mprof_f instead of the
// allocator's f, after mprof_count_down(size) has returned true. The function
// that calls this macro has been entered by a jump from the interceptor, so its
// return address is that of the interceptor.
#define MPROF_INTERCEPT_COUNTS(size)                                           \
  mprof_intercept_counts(size, __builtin_return_address(0))

#endif // MPROF_RT_ENTRY_INTERCEPT_H
