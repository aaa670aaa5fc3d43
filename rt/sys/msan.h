// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells MemorySanitizer which memory of the program the runtime has written,
// because MemorySanitizer does not see the runtime's writes.

#ifndef MPROF_RT_SYS_MSAN_H
#define MPROF_RT_SYS_MSAN_H

#include "sys/base.h"

// NULL if the program is not compiled with MemorySanitizer.
extern void __msan_init(void) __attribute__((weak));
// Only called, because a test of its address would make the dynamic linker look
// it up at the start of each program.
extern void __msan_unpoison(const volatile void *p, size_t len)
    __attribute__((weak));

// Reports that the runtime has written len bytes at p.
static inline void mprof_msan_unpoison(const volatile void *p, size_t len) {
  if (__msan_init)
    __msan_unpoison(p, len);
}

#endif // MPROF_RT_SYS_MSAN_H
