// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source of libmprof_intercept.a, which makes uninstrumented code call the
// interceptors of intercept_heap.c. It defines malloc and similar functions in
// the program. The definitions are weak, so a program with its own malloc keeps
// its malloc.

#include "heap/beneath.h"
#include "sys/abi_words.h"

#include <stddef.h>

const char mprof_intercept_is_linked = 1;

// Defines f, which jumps to its interceptor.
#define DEFINE(Result, f, Params, Args)                                        \
  MPROF_ENTRY Result __mprof_own_##f Params;                                   \
  MPROF_ENTRY Result f Params __attribute__((weak));                           \
  Result f Params { __attribute__((musttail)) return __mprof_own_##f Args; }

DEFINE(void *, malloc, (size_t size), (size))
DEFINE(void *, calloc, (size_t count, size_t each), (count, each))
DEFINE(void *, realloc, (void *old, size_t size), (old, size))
DEFINE(void *, reallocarray, (void *old, size_t count, size_t each),
       (old, count, each))
DEFINE(void, free, (void *ptr), (ptr))
DEFINE(void *, aligned_alloc, (size_t align, size_t size), (align, size))
DEFINE(int, posix_memalign, (void **out, size_t align, size_t size),
       (out, align, size))
DEFINE(void *, memalign, (size_t align, size_t size), (align, size))
DEFINE(void *, valloc, (size_t size), (size))
DEFINE(void *, pvalloc, (size_t size), (size))
