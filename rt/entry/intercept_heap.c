// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interceptors of malloc and similar functions, which count the blocks of
// uninstrumented code: of libc itself (getline, asprintf), the C++ library and
// all other libraries. The interceptor of f is __mprof_own_f. It first does the
// work of an instrumented call site, and then calls the allocator's f.
//
// The interceptors do nothing unless uninstrumented code calls them. A program
// is linked in one of these ways, all of which define the symbol
// mprof_intercept_is_linked:
//
//   libmprof_intercept.a   defines each f as a weak function that jumps to
//                          __mprof_own_f. The archive must be the last one on
//                          the link line: an archive with an allocator that
//                          comes later would not be searched for f
//   libmprof_intercept.ld  a linker script for any place of the link line. It
//                          defines f as __mprof_own_f, if no object and no
//                          archive defines f
//   --wrap=f               for static programs, by mprof-clang. The linker
//                          redirects all calls of f to __mprof_own_f, and
//                          mprof_real_f is f itself. This is done only for
//                          functions that every allocator has. A reference to
//                          aligned_alloc, for example, would link libc's
//                          allocator into a program whose own allocator lacks
//                          aligned_alloc. So a static program counts aligned
//                          blocks only at instrumented call sites. Frees of
//                          aligned blocks are handled like other frees
//   libmprof_preload.so    contains the file of libmprof_intercept.a
//
// So a program with its own malloc keeps its malloc. The loader calls the
// interceptors even before the runtime's constructor runs. Until then, the
// interceptors count nothing. In libmprof_preload.so, the first allocation by a
// constructor of another library starts the runtime.

#include "heap/beneath.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/base.h"
#include "sys/libc.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

// Returns whether the allocator that the interceptors call is known. While the
// runtime looks up this allocator, the loader may allocate memory. Such an
// allocation fails, and the loader continues without the memory.
static bool has_next(void) {
  if (mprof_next_find())
    return true;
  errno = ENOMEM;
  return false;
}

// Returns whether the interceptors count now.
static bool counts(void) { return mprof_intercepts(&mprof_intercept_is_on.c); }
// Starts the runtime early in libmprof_preload.so, which alone has
// mprof_init_start_early. Returns whether the interceptors count then. The
// address is in a variable: in code, gold does not make it NULL.
static bool (*const volatile start_early)(void) = mprof_init_start_early;
static bool starts(void) {
  bool (*const start)(void) = start_early;
  return start && start() && counts();
}

// The next definition of f after the interceptor: first early_f, which finds
// it, and then the allocator's f. It is not always the function of the word
// __mprof_next_f, see struct mprof_intercept.
#define NEXT_OF(f) static void *next_of_##f = (void *)early_##f
#define PASS_ON(f) ((__typeof__(&f))next_of_##f)
// Evaluates to true in early_f if there is an allocator with a function f.
#define FOUND_NEXT(f) (has_next() && next_of_##f != (void *)early_##f)

static bool may_be_counted(const void *ptr) {
  return ((uintptr_t)ptr & __mprof_free_mask) == 0;
}

// All references are weak. A strong reference would link libc's allocator into
// a static program whose own allocator lacks the function.
#pragma weak malloc
#pragma weak calloc
#pragma weak realloc
#pragma weak reallocarray
#pragma weak free
#pragma weak aligned_alloc
#pragma weak posix_memalign
#pragma weak memalign
#pragma weak valloc
#pragma weak pvalloc

// Only in a static program: the allocator's functions (mprof-clang).
extern char mprof_real_malloc[] MPROF_HIDDEN __attribute__((weak));
extern char mprof_real_calloc[] MPROF_HIDDEN __attribute__((weak));
extern char mprof_real_realloc[] MPROF_HIDDEN __attribute__((weak));
extern char mprof_real_free[] MPROF_HIDDEN __attribute__((weak));

// Defines an interceptor of f, which allocates Size bytes. The interceptor
// returns Failed if it does not yet know the allocator. It leaves the rarer
// cases to other functions by jumps, so it saves no registers. It does not test
// whether the interceptors count: until the runtime has started, each thread's
// countdown is 0, so that asked_f is called.
#define ALLOCATE(Result, f, Params, Args, Size, Failed)                        \
  MPROF_ENTRY Result __mprof_##f Params;                                       \
  MPROF_ENTRY Result __mprof_own_##f Params;                                   \
  static MPROF_NOINLINE Result early_##f Params;                               \
  NEXT_OF(f);                                                                  \
  static MPROF_NOINLINE Result early_##f Params {                              \
    return FOUND_NEXT(f) ? PASS_ON(f) Args : (Failed);                         \
  }                                                                            \
  static MPROF_NOINLINE Result asked_##f Params {                              \
    if (!counts()) {                                                           \
      mprof_count_back(Size);                                                  \
      if (starts())                                                            \
        MPROF_MUSTTAIL return __mprof_own_##f Args;                            \
    } else if (MPROF_INTERCEPT_COUNTS(Size)) {                                 \
      MPROF_MUSTTAIL return __mprof_##f Args;                                  \
    }                                                                          \
    return PASS_ON(f) Args;                                                    \
  }                                                                            \
  MPROF_ENTRY Result __mprof_own_##f Params {                                  \
    if (mprof_unlikely(mprof_count_down(Size)))                                \
      MPROF_MUSTTAIL return asked_##f Args;                                    \
    MPROF_MUSTTAIL return PASS_ON(f) Args;                                     \
  }

ALLOCATE(void *, malloc, (size_t size), (size), size, NULL)

ALLOCATE(void *, calloc, (size_t count, size_t each), (count, each),
         count *each, NULL)

ALLOCATE(void *, aligned_alloc, (size_t align, size_t size), (align, size),
         size, NULL)

ALLOCATE(int, posix_memalign, (void **out, size_t align, size_t size),
         (out, align, size), size, ENOMEM)

ALLOCATE(void *, memalign, (size_t align, size_t size), (align, size), size,
         NULL)

ALLOCATE(void *, valloc, (size_t size), (size), size, NULL)

ALLOCATE(void *, pvalloc, (size_t size), (size), size, NULL)

MPROF_ENTRY void *__mprof_realloc(void *old, size_t size);
MPROF_ENTRY void __mprof_free(void *ptr);

MPROF_ENTRY void *__mprof_own_realloc(void *old, size_t size);
static MPROF_NOINLINE void *early_realloc(void *old, size_t size);
NEXT_OF(realloc);
static MPROF_NOINLINE void *early_realloc(void *old, size_t size) {
  return FOUND_NEXT(realloc) ? PASS_ON(realloc)(old, size) : NULL;
}

static MPROF_NOINLINE void *asked_realloc(void *old, size_t size) {
  if (!counts()) {
    mprof_count_back(size);
    if (starts())
      MPROF_MUSTTAIL return __mprof_own_realloc(old, size);
  } else if (MPROF_INTERCEPT_COUNTS(size) || may_be_counted(old)) {
    MPROF_MUSTTAIL return __mprof_realloc(old, size);
  }
  return PASS_ON(realloc)(old, size);
}

static MPROF_NOINLINE void *resize_counted(void *old, size_t size) {
  if (counts())
    MPROF_MUSTTAIL return __mprof_realloc(old, size);
  return PASS_ON(realloc)(old, size);
}

MPROF_ENTRY void *__mprof_own_realloc(void *old, size_t size) {
  if (mprof_unlikely(mprof_count_down(size)))
    MPROF_MUSTTAIL return asked_realloc(old, size);
  if (may_be_counted(old) && old)
    MPROF_MUSTTAIL return resize_counted(old, size);
  MPROF_MUSTTAIL return PASS_ON(realloc)(old, size);
}

MPROF_ENTRY void *__mprof_own_reallocarray(void *old, size_t count,
                                           size_t each) {
  size_t size;
  if (!__builtin_mul_overflow(count, each, &size))
    return __mprof_own_realloc(old, size);
  errno = ENOMEM;
  return NULL;
}

// Call sites call this reallocarray when they do not call the runtime. They do
// not call libc's reallocarray, because it would call the interceptor of
// realloc.
static void *plain_reallocarray(void *old, size_t count, size_t each) {
  size_t size;
  if (!__builtin_mul_overflow(count, each, &size))
    return NEXT(realloc)(old, size);
  errno = ENOMEM;
  return NULL;
}

static MPROF_NOINLINE void early_free(void *ptr);
NEXT_OF(free);
static MPROF_NOINLINE void early_free(void *ptr) {
  if (FOUND_NEXT(free))
    PASS_ON(free)(ptr);
}

static MPROF_NOINLINE void free_counted(void *ptr) {
  if (counts())
    MPROF_MUSTTAIL return __mprof_free(ptr);
  PASS_ON(free)(ptr);
}

// Libraries free many null pointers: regexec of libc frees several in a call.
MPROF_ENTRY void __mprof_own_free(void *ptr) {
  if (may_be_counted(ptr)) {
    if (!ptr)
      return;
    MPROF_MUSTTAIL return free_counted(ptr);
  }
  MPROF_MUSTTAIL return PASS_ON(free)(ptr);
}

// Call sites that duplicate a string without a call of the runtime use the
// functions below. They do not use libc's functions, because those would call
// the interceptor of malloc. The sites of sized_* have measured the string.

// Copies a string of size - 1 bytes, and the terminator.
static char *sized_strdup(const char *s, size_t size) {
  char *p = NEXT(malloc)(size);
  return p ? memcpy(p, s, size) : NULL;
}
static char *plain_strdup(const char *s) {
  return sized_strdup(s, strlen(s) + 1);
}
// Copies the first size - 1 bytes of a string, and adds the terminator. Like
// libc's strndup, reads from s unless max is 0, also if s is NULL.
static char *sized_strndup(const char *s, size_t max, size_t size) {
  if (max)
    (void)*(const volatile char *)s;
  char *p = NEXT(malloc)(size);
  if (!p)
    return NULL;
  p[size - 1] = '\0';
  return memcpy(p, s, size - 1);
}
static char *plain_strndup(const char *s, size_t max) {
  return sized_strndup(s, max, strnlen(s, max) + 1);
}
static wchar_t *plain_wcsdup(const wchar_t *s) {
  size_t size = (wcslen(s) + 1) * sizeof(*s);
  wchar_t *p = NEXT(malloc)(size);
  return p ? memcpy(p, s, size) : NULL;
}

// Element of mprof_intercept_c for a function f that has an interceptor. plain:
// the function that the interceptor calls; NULL: dlsym finds it. In a static
// program, both a call and the address of f mean __mprof_own_f.
#define ROW_AS(f, plain, next)                                                 \
  {#f, &__mprof_next_##f, (void *)f, (void *)__mprof_own_##f, plain, NULL, next}
#define ROW(f) ROW_AS(f, mprof_real_##f, &next_of_##f)
// The same for a function that is not wrapped in a static program.
#define ROW_DYNAMIC(f) ROW_AS(f, NULL, &next_of_##f)
// Elements of mprof_intercept_c for functions that have no interceptor.
#define BENEATH(f)                                                             \
  {#f, &__mprof_next_##f, NULL, NULL, (void *)plain_##f, NULL, NULL}
#define SIZED(f)                                                               \
  {#f, &__mprof_sized_##f, NULL, NULL, (void *)sized_##f, NULL, NULL}
// clang-format off
const struct mprof_intercept mprof_intercept_c[] = {
    ROW(malloc), ROW(calloc), ROW(realloc), ROW(free),
    ROW_AS(reallocarray, (void *)plain_reallocarray, NULL),
    ROW_DYNAMIC(aligned_alloc), ROW_DYNAMIC(posix_memalign),
    ROW_DYNAMIC(memalign), ROW_DYNAMIC(valloc), ROW_DYNAMIC(pvalloc),
    BENEATH(strdup), BENEATH(strndup), BENEATH(wcsdup),
    SIZED(strdup), SIZED(strndup),
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
// clang-format on
