// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines operator new and delete for uninstrumented programs; see preload.h.
// The file is in C, where an operator is a function with a mangled name, so
// that the library does not depend on a C++ library. An operator that throws
// has been called by a jump, or throws through functions that hold no
// resources.

#include "preload/preload.h"

#include "heap/beneath.h"
#include "process/modules.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/base.h"

#include <errno.h>
#include <stdlib.h>

// The section of the operators' code, so that a symbol's address tells whether
// the symbol is one of them.
#define SECTION "mprof_operators"
extern const char __start_mprof_operators[]
    __attribute__((visibility("hidden")));
extern const char __stop_mprof_operators[]
    __attribute__((visibility("hidden")));

typedef const void *nothrow; // const std::nothrow_t &

static bool may_be_counted(const void *ptr) {
  return ((uintptr_t)ptr & __mprof_delete_mask) == 0;
}

// Returns whether the operators count now.
static bool counts(void) {
  return mprof_intercepts(&mprof_intercept_is_on.cxx);
}

// True: each operator passes its calls on to the next definition.
static bool is_replaced;
#define PASSES(f) (is_replaced && next_##f != NULL)

// Begins the definition of the operator f.
// next_f: the next definition of f after this library's, or NULL.
// way_f: the function that own_f calls for a block that is not counted.
#define OPERATOR(Result, f, Params)                                            \
  MPROF_ENTRY Result __mprof_##f Params;                                       \
  __attribute__((section(SECTION), aligned(32))) static Result own_##f Params; \
  MPROF_DATA Result f Params __attribute__((weak, alias("own_" #f)));          \
  static Result(*next_##f) Params;                                             \
  static Result uncounted_##f Params;                                          \
  static Result plain_##f Params;                                              \
  static Result(*way_##f) Params = uncounted_##f;

// Defines an operator new, whose parameter `size` is the size of the block.
// Block: an expression that allocates the block and does not count it.
//
// plain_f does the work of f. If there is no memory, the next f tries again,
// calls the new_handler and throws. passed_f is the way if PASSES(f): the next
// f counts the block when it calls malloc. asked_f is called if a sample may be
// due, and uncounted_f until the runtime has started.
#define NEW(f, Params, Args, Block)                                            \
  OPERATOR(void *, f, Params)                                                  \
  static MPROF_NOINLINE void *failed_##f Params {                              \
    if (PASSES(f) || !next_##f)                                                \
      return NULL;                                                             \
    mprof_count_back(size);                                                    \
    MPROF_MUSTTAIL return next_##f Args;                                       \
  }                                                                            \
  static MPROF_NOINLINE void *plain_##f Params {                               \
    void *const p = Block;                                                     \
    if (mprof_unlikely(!p))                                                    \
      MPROF_MUSTTAIL return failed_##f Args;                                   \
    return p;                                                                  \
  }                                                                            \
  static void *passed_##f Params {                                             \
    mprof_count_back(size);                                                    \
    MPROF_MUSTTAIL return next_##f Args;                                       \
  }                                                                            \
  static MPROF_NOINLINE void *uncounted_##f Params {                           \
    mprof_count_back(size);                                                    \
    mprof_preload_operators_init();                                            \
    if (PASSES(f))                                                             \
      MPROF_MUSTTAIL return next_##f Args;                                     \
    MPROF_MUSTTAIL return plain_##f Args;                                      \
  }                                                                            \
  static MPROF_NOINLINE void *asked_##f Params {                               \
    if (!counts()) {                                                           \
      if (!mprof_init_start_early() || !counts())                              \
        MPROF_MUSTTAIL return uncounted_##f Args;                              \
      mprof_count_back(size);                                                  \
      MPROF_MUSTTAIL return own_##f Args;                                      \
    }                                                                          \
    if (MPROF_INTERCEPT_COUNTS(size))                                          \
      MPROF_MUSTTAIL return __mprof_##f Args;                                  \
    MPROF_MUSTTAIL return plain_##f Args;                                      \
  }                                                                            \
  static void *own_##f Params {                                                \
    if (mprof_unlikely(mprof_count_down(size)))                                \
      MPROF_MUSTTAIL return asked_##f Args;                                    \
    void *const p = way_##f Args;                                              \
    if (mprof_unlikely(!p))                                                    \
      MPROF_MUSTTAIL return failed_##f Args;                                   \
    return p;                                                                  \
  }

// Defines an operator delete of the block `ptr`.
#define DELETE(f, Params, Args)                                                \
  OPERATOR(void, f, Params)                                                    \
  static void plain_##f Params { NEXT(free)(ptr); }                            \
  static MPROF_NOINLINE void uncounted_##f Params {                            \
    mprof_preload_operators_init();                                            \
    if (PASSES(f))                                                             \
      MPROF_MUSTTAIL return next_##f Args;                                     \
    MPROF_MUSTTAIL return plain_##f Args;                                      \
  }                                                                            \
  static MPROF_NOINLINE void asked_##f Params {                                \
    if (!counts())                                                             \
      MPROF_MUSTTAIL return way_##f Args;                                      \
    if (ptr)                                                                   \
      MPROF_MUSTTAIL return __mprof_##f Args;                                  \
  }                                                                            \
  static void own_##f Params {                                                 \
    if (may_be_counted(ptr))                                                   \
      MPROF_MUSTTAIL return asked_##f Args;                                    \
    MPROF_MUSTTAIL return way_##f Args;                                        \
  }

static void *get_aligned(size_t size, size_t align) {
  void *p = NULL;
  const size_t least = align < sizeof(void *) ? sizeof(void *) : align;
  if (align == 0 || (align & (align - 1)) != 0)
    return NULL;
  return NEXT(posix_memalign)(&p, least, size) == 0 ? p : NULL;
}

// Calls X(f, Params, Args...) for each form of an operator.
#define NEW_FORMS(X, Op)                                                       \
  X(Op##m, (size_t size), (size), NEXT(malloc)(size))                          \
  X(Op##mRKSt9nothrow_t, (size_t size, nothrow n), (size, n),                  \
    NEXT(malloc)(size))                                                        \
  X(Op##mSt11align_val_t, (size_t size, size_t align), (size, align),          \
    get_aligned(size, align))                                                  \
  X(Op##mSt11align_val_tRKSt9nothrow_t,                                        \
    (size_t size, size_t align, nothrow n), (size, align, n),                  \
    get_aligned(size, align))
#define DELETE_FORMS(X, Op)                                                    \
  X(Op, (void *ptr), (ptr))                                                    \
  X(Op##RKSt9nothrow_t, (void *ptr, nothrow n), (ptr, n))                      \
  X(Op##m, (void *ptr, size_t size), (ptr, size))                              \
  X(Op##St11align_val_t, (void *ptr, size_t align), (ptr, align))              \
  X(Op##St11align_val_tRKSt9nothrow_t, (void *ptr, size_t align, nothrow n),   \
    (ptr, align, n))                                                           \
  X(Op##mSt11align_val_t, (void *ptr, size_t size, size_t align),              \
    (ptr, size, align))

NEW_FORMS(NEW, _Znw)
NEW_FORMS(NEW, _Zna)
DELETE_FORMS(DELETE, _ZdlPv)
DELETE_FORMS(DELETE, _ZdaPv)

// --- the start ---

#define ROW(f, ...)                                                            \
  {#f,                                                                         \
   &__mprof_next_##f,                                                          \
   (void *)f,                                                                  \
   (void *)own_##f,                                                            \
   (void *)plain_##f,                                                          \
   (void **)&next_##f,                                                         \
   (void **)&way_##f},
// clang-format off
const struct mprof_intercept mprof_intercept_cxx[] = {
    NEW_FORMS(ROW, _Znw) NEW_FORMS(ROW, _Zna)
    DELETE_FORMS(ROW, _ZdlPv) DELETE_FORMS(ROW, _ZdaPv)
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
// clang-format on

// Finds the next definitions if mprof_next_find has not, because the program
// defines one of the functions. A search without a result allocates memory, so
// there is none in a program without a C++ library.
static void find_next(void) {
  if (mprof_intercepted.cxx || next__Znwm)
    return;
  for (const struct mprof_intercept *i = mprof_intercept_cxx; i->name; i++) {
    *i->library = mprof_next_definition(i->name);
    if (!next__Znwm)
      return;
  }
}

static void choose_way(void) {
#define PASS_NEW(f, ...) way_##f = PASSES(f) ? passed_##f : plain_##f;
#define PASS_DELETE(f, ...) way_##f = PASSES(f) ? next_##f : plain_##f;
  is_replaced = !mprof_intercepted.cxx;
  NEW_FORMS(PASS_NEW, _Znw)
  NEW_FORMS(PASS_NEW, _Zna)
  DELETE_FORMS(PASS_DELETE, _ZdlPv)
  DELETE_FORMS(PASS_DELETE, _ZdaPv)
  if (is_replaced)
    return;
  // These forms are called most. malloc and free ignore the other arguments, so
  // they can be called without a function between.
  way__Znwm = way__Znam = (__typeof__(way__Znwm))__mprof_next_malloc;
  way__ZdlPv = way__ZdaPv = (__typeof__(way__ZdlPv))__mprof_next_free;
  way__ZdlPvm = way__ZdaPvm = (__typeof__(way__ZdlPvm))__mprof_next_free;
}

void mprof_preload_operators_init(void) {
  static atomic_bool is_done;
  if (!mprof_next_find() || atomic_load(&is_done))
    return;
  const int before = errno;
  find_next();
  choose_way();
  errno = before;
  atomic_store(&is_done, true);
}

bool mprof_preload_operators_is_missing(const void *code) {
  return !next__Znwm && (uintptr_t)code >= (uintptr_t)__start_mprof_operators &&
         (uintptr_t)code < (uintptr_t)__stop_mprof_operators;
}
