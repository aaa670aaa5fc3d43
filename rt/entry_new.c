// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of C++ operator new and delete, in C: the operators are functions
// with mangled names, and an exception that one throws passes through these
// frames, which hold nothing. They exist if the program has a C++ library.

#include "entry.h"
#include "real.h"

typedef const void *nothrow; // const std::nothrow_t &

// What each operator news with when the block is to be placed: a kept block, or
// the aligned form with the same way of failing. place.c says when these
// operators are malloc and free by other names, so that any form of delete may
// take the block.
#define NEW(Op)                                                                \
  extern void *Op##m(size_t) __attribute__((weak));                            \
  extern void *Op##mSt11align_val_t(size_t, size_t) __attribute__((weak));     \
  extern void *Op##mRKSt9nothrow_t(size_t, nothrow) __attribute__((weak));     \
  extern void *Op##mSt11align_val_tRKSt9nothrow_t(size_t, size_t, nothrow)     \
      __attribute__((weak));                                                   \
                                                                               \
  MPROF_ENTRY void *__mprof_##Op##m(size_t size) {                             \
    struct mprof_alloc a;                                                      \
    if (!MPROF_BEGIN(&a, size, mprof_place_cxx()))                             \
      return REAL(Op##m)(size);                                                \
    void *p = kept_block(&a);                                                  \
    if (!p)                                                                    \
      p = a.must_place ? Op##mSt11align_val_t(size, MPROF_PAGE)                \
                       : REAL(Op##m)(size);                                    \
    return mprof_alloc_done(&a, p);                                            \
  }                                                                            \
                                                                               \
  MPROF_ENTRY void *__mprof_##Op##mRKSt9nothrow_t(size_t size, nothrow n) {    \
    struct mprof_alloc a;                                                      \
    if (!MPROF_BEGIN(&a, size, mprof_place_cxx()))                             \
      return REAL(Op##mRKSt9nothrow_t)(size, n);                               \
    void *p = kept_block(&a);                                                  \
    if (!p)                                                                    \
      p = a.must_place                                                         \
              ? Op##mSt11align_val_tRKSt9nothrow_t(size, MPROF_PAGE, n)        \
              : REAL(Op##mRKSt9nothrow_t)(size, n);                            \
    return mprof_alloc_done(&a, p);                                            \
  }                                                                            \
                                                                               \
  MPROF_ENTRY void *__mprof_##Op##mSt11align_val_t(size_t size,                \
                                                   size_t align) {             \
    struct mprof_alloc a;                                                      \
    if (!MPROF_BEGIN(&a, size, mprof_place_cxx()))                             \
      return REAL(Op##mSt11align_val_t)(size, align);                          \
    return mprof_alloc_done(                                                   \
        &a, REAL(Op##mSt11align_val_t)(size, placed_align(&a, align)));        \
  }                                                                            \
                                                                               \
  MPROF_ENTRY void *__mprof_##Op##mSt11align_val_tRKSt9nothrow_t(              \
      size_t size, size_t align, nothrow n) {                                  \
    struct mprof_alloc a;                                                      \
    if (!MPROF_BEGIN(&a, size, mprof_place_cxx()))                             \
      return REAL(Op##mSt11align_val_tRKSt9nothrow_t)(size, align, n);         \
    return mprof_alloc_done(&a, REAL(Op##mSt11align_val_tRKSt9nothrow_t)(      \
                                    size, placed_align(&a, align), n));        \
  }

static void *kept_block(const struct mprof_alloc *a) {
  return a->must_place ? mprof_keep_take(a->size) : NULL;
}

static size_t placed_align(const struct mprof_alloc *a, size_t align) {
  return a->must_place && align < MPROF_PAGE ? MPROF_PAGE : align;
}

// Params declares the parameters, Args passes them on.
#define DELETE(Symbol, Params, Args)                                           \
  extern void Symbol Params __attribute__((weak));                             \
  MPROF_ENTRY void __mprof_##Symbol Params {                                   \
    if (!mprof_free_block(ptr, mprof_place_cxx()))                             \
      REAL(Symbol) Args;                                                       \
  }

#define DELETES(Op)                                                            \
  DELETE(Op, (void *ptr), (ptr))                                               \
  DELETE(Op##RKSt9nothrow_t, (void *ptr, nothrow n), (ptr, n))                 \
  DELETE(Op##m, (void *ptr, size_t size), (ptr, size))                         \
  DELETE(Op##St11align_val_t, (void *ptr, size_t align), (ptr, align))         \
  DELETE(Op##St11align_val_tRKSt9nothrow_t,                                    \
         (void *ptr, size_t align, nothrow n), (ptr, align, n))                \
  DELETE(Op##mSt11align_val_t, (void *ptr, size_t size, size_t align),         \
         (ptr, size, align))

NEW(_Znw)
NEW(_Zna)
DELETES(_ZdlPv)
DELETES(_ZdaPv)
