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

// Returns whether the calls of uninstrumented code are counted. The calls are
// counted if the runtime has started and the program defines no function of
// malloc's family.
static inline bool mprof_intercepts(void) {
  return __builtin_expect(
      __atomic_load_n(&mprof_intercept_is_on, __ATOMIC_RELAXED), 1);
}

// Subtracts size from the sampling countdown, as an instrumented call site
// does. Returns whether the interceptor must call the entry __mprof_f instead
// of the allocator's f. Inlined, so that __builtin_return_address returns the
// interceptor's return address.
__attribute__((always_inline)) static inline bool
mprof_intercept_asks(size_t size) {
  return __builtin_expect(mprof_count_down(size), 0) &&
         mprof_intercept_counts(size, __builtin_return_address(0));
}

#endif // MPROF_RT_ENTRY_INTERCEPT_H
