// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmprof_intercept.a: malloc and its kin as functions of the program, so that
// code which was not rewritten calls them: libc's own (getline, asprintf), the
// C++ library, any other. Each is a site by hand, with the allocator beneath at
// its end. All are weak: a program that has a malloc of its own keeps it.
//
// libmprof_intercept_static.a is this file with MPROF_WRAP: in a static program
// the linker has all calls of f go to __wrap_f, and __real_f is f. Of these
// only what every allocator has: a reference to __real_aligned_alloc would draw
// libc's allocator into a program that has another, without that function. So
// aligned blocks are counted at sites alone there; they are freed like any
// other.
//
// Before the runtime's constructor nothing is counted, since the loader is a
// caller too.

#include "abi_words.h"
#include "intercept.h"
#include "next.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

// While the runtime has not started: whether the allocator beneath can be
// called. The loader may ask for memory while it is being looked for, and goes
// on without.
static bool has_next(void) {
  if (mprof_next_find())
    return true;
  errno = ENOMEM;
  return false;
}

static bool may_be_counted(const void *ptr) {
  return ((uintptr_t)ptr & __mprof_free_mask) == 0;
}

// The interceptor of f, and its definition.
#define INTERCEPT(Result, f, Params)                                           \
  MPROF_ENTRY Result __mprof_##f Params;                                       \
  MPROF_TEXT_SECTION static Result own_##f Params;                             \
  PUT_BEFORE(Result, f, Params);                                               \
  static Result own_##f Params
#ifdef MPROF_WRAP
#define PUT_BEFORE(Result, f, Params)                                          \
  extern Result __real_##f Params;                                             \
  Result __wrap_##f Params __attribute__((weak, alias("own_" #f)))
// For stacks through code without frame pointers.
extern int _dl_find_object(void *pc, void *result);
int (*const mprof_intercept_keeps)(void *, void *) = _dl_find_object;
#else
// A weak function of the program.
#define PUT_BEFORE(Result, f, Params)                                          \
  MPROF_DATA Result f Params __attribute__((weak, alias("own_" #f)))
#endif

// The body of one that allocates size bytes; Failed: without an allocator.
#define ALLOCATE(f, Args, Size, Failed)                                        \
  {                                                                            \
    if (mprof_unlikely(!mprof_intercepts()))                                   \
      return has_next() ? NEXT(f) Args : (Failed);                             \
    if (mprof_intercept_asks(Size))                                            \
      MPROF_MUSTTAIL return __mprof_##f Args;                                  \
    return NEXT(f) Args;                                                       \
  }

INTERCEPT(void *, malloc, (size_t size))
ALLOCATE(malloc, (size), size, NULL)

INTERCEPT(void *, calloc, (size_t count, size_t each))
ALLOCATE(calloc, (count, each), count *each, NULL)

#ifndef MPROF_WRAP
INTERCEPT(void *, aligned_alloc, (size_t align, size_t size))
ALLOCATE(aligned_alloc, (align, size), size, NULL)

INTERCEPT(int, posix_memalign, (void **out, size_t align, size_t size))
ALLOCATE(posix_memalign, (out, align, size), size, ENOMEM)

INTERCEPT(void *, memalign, (size_t align, size_t size))
ALLOCATE(memalign, (align, size), size, NULL)

INTERCEPT(void *, valloc, (size_t size))
ALLOCATE(valloc, (size), size, NULL)

INTERCEPT(void *, pvalloc, (size_t size))
ALLOCATE(pvalloc, (size), size, NULL)
#endif

INTERCEPT(void *, realloc, (void *old, size_t size)) {
  if (mprof_unlikely(!mprof_intercepts()))
    return has_next() ? NEXT(realloc)(old, size) : NULL;
  bool asks = mprof_intercept_asks(size);
  if (asks || may_be_counted(old))
    MPROF_MUSTTAIL return __mprof_realloc(old, size);
  return NEXT(realloc)(old, size);
}

INTERCEPT(void *, reallocarray, (void *old, size_t count, size_t each)) {
  size_t size;
  if (!__builtin_mul_overflow(count, each, &size))
    return own_realloc(old, size);
  errno = ENOMEM;
  return NULL;
}

// What sites call: libc's would come back by way of realloc.
static void *plain_reallocarray(void *old, size_t count, size_t each) {
  size_t size;
  if (!__builtin_mul_overflow(count, each, &size))
    return NEXT(realloc)(old, size);
  errno = ENOMEM;
  return NULL;
}

INTERCEPT(void, free, (void *ptr)) {
  if (mprof_likely(mprof_intercepts())) {
    if (may_be_counted(ptr))
      MPROF_MUSTTAIL return __mprof_free(ptr);
  } else if (!has_next()) {
    return;
  }
  NEXT(free)(ptr);
}

// libc's would come back by way of malloc.
static void *plain_copy(const void *from, size_t len, size_t end) {
  char *p = NEXT(malloc)(len + end);
  if (p) {
    memcpy(p, from, len);
    memset(p + len, 0, end);
  }
  return p;
}
static char *plain_strdup(const char *s) { return plain_copy(s, strlen(s), 1); }
static char *plain_strndup(const char *s, size_t max) {
  return plain_copy(s, strnlen(s, max), 1);
}
static wchar_t *plain_wcsdup(const wchar_t *s) {
  return plain_copy(s, wcslen(s) * sizeof(*s), sizeof(*s));
}

// A call of f, and so its address, is __wrap_f's in a static program.
#define ROW_AS(f, plain)                                                       \
  {#f, &__mprof_next_##f, (void *)f, (void *)own_##f, plain, NULL}
#ifdef MPROF_WRAP
#define ROW(f) ROW_AS(f, (void *)__real_##f)
#else
#define ROW(f) ROW_AS(f, NULL)
#endif
// Not stood in front of.
#define BENEATH(f) {#f, &__mprof_next_##f, NULL, NULL, (void *)plain_##f, NULL}
// clang-format off
const struct mprof_intercept mprof_intercept_c[] = {
    ROW(malloc), ROW(calloc), ROW(realloc), ROW(free),
    ROW_AS(reallocarray, (void *)plain_reallocarray),
#ifndef MPROF_WRAP
    ROW(aligned_alloc), ROW(posix_memalign), ROW(memalign), ROW(valloc),
    ROW(pvalloc),
#endif
    BENEATH(strdup), BENEATH(strndup), BENEATH(wcsdup),
    {NULL, NULL, NULL, NULL, NULL, NULL}};
// clang-format on
