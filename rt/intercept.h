// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the interceptors of the heap share. Only they include this; it is C and
// C++.

#ifndef MPROF_RT_INTERCEPT_H
#define MPROF_RT_INTERCEPT_H

#include "next.h"

#define MPROF_MUSTTAIL __attribute__((musttail))

// Whether code that was not rewritten is counted: the runtime has started, and
// the program has left the whole of malloc's family to it. Written once.
#ifdef __cplusplus
extern "C" {
#endif
extern unsigned char mprof_intercept_is_on;

// Tells the runtime that its caller was not rewritten, so that its stack is not
// followed by frame pointers alone.
void mprof_unwind_foreign(void);
#ifdef __cplusplus
}
#endif

static inline bool mprof_intercepts(void) {
  return __builtin_expect(
      __atomic_load_n(&mprof_intercept_is_on, __ATOMIC_RELAXED), 1);
}

// Takes size off the countdown, as a site does; whether the entry is to be
// called instead of the function beneath.
static inline bool mprof_intercept_asks(size_t size) {
  uint64_t before = (uint64_t)__mprof_heap_countdown;
  __mprof_heap_countdown = (int64_t)(before - size);
  if (__builtin_expect(before > size, 1))
    return false;
  mprof_unwind_foreign();
  return true;
}

#endif // MPROF_RT_INTERCEPT_H
