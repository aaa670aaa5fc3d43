// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of C++ operator new and delete: the functions __mprof_f that
// instrumented code calls in place of f. They are written in C, where an
// operator is a function with a mangled name. An operator may throw an
// exception through the frame of its entry, because the entry holds no
// resources. The operators are weak symbols, because only a program with a C++
// library has them.

#define MPROF_ALLOCATOR_FAMILY MPROF_FAMILY_CXX

#include "entry/entry.h"

#include "heap/beneath.h"
#include "heap/event.h"
#include "sys/abi_words.h"
#include "sys/libc.h"

#include <stdlib.h>

#pragma weak posix_memalign

MPROF_WITHOUT_LIBGCC_S;

// Calls the program's operator f. If the program had no operator f when it
// started, calls the operator of the C++ library that the caller's library is
// linked with. In this case NEXT(f) cannot be used, because it would call
// beneath_f (defined below). beneath_f searches the libraries that its caller
// is linked with, and its caller would be the runtime instead of the program.
#define BELOW(f, Args)                                                         \
  (mprof_likely(PROGRAM_S(f) != NULL) ? NEXT(f) Args : ({                      \
    INSIDE_OPERATOR;                                                           \
    LATE(f) Args;                                                              \
  }))
// The program's operator f, or NULL.
#define PROGRAM_S(f) ((__typeof__(&f))mprof_heap_functions[MPROF_HEAP_##f])

// If the runtime intercepts malloc, an operator new of the program or of the
// C++ library may call the intercepted malloc. The block that malloc returns is
// part of the operator's block and must not be counted again (sampling.c).
//
// Returns whether this call is nested in another call of an operator. Otherwise
// records this call as the outermost one. frame: frame address of this call.
static bool enter(uintptr_t frame) {
  if (__mprof_nested_frame > frame)
    return true;
  __mprof_nested_frame = frame;
  __mprof_nested_return = ((const uintptr_t *)frame)[1];
  return false;
}

// Ends the outermost call. The compiler calls this function when the variable
// is_inner_ goes out of scope, so it also runs if the operator throws.
static void leave(const bool *is_inner) {
  if (!*is_inner)
    __mprof_nested_frame = 0;
}

// Until the end of the C block that contains this macro, allocations count as
// part of the operator's call.
#define INSIDE_OPERATOR                                                        \
  __attribute__((cleanup(leave), unused)) bool is_inner_ =                     \
      enter((uintptr_t)__builtin_frame_address(0))

typedef const void *nothrow; // const std::nothrow_t &

// Defines the entries of all forms of an operator new. A counted block is
// allocated by posix_memalign, on a page boundary. So every form of delete to
// which the program may pass the block must release it by free.
// page_placement.c permits this placement only if the operators are known to
// call malloc and free. posix_memalign needs more memory than the operator and
// may fail. In that case the entry calls the operator itself, which handles the
// failure.
#define NEW(Op)                                                                \
  extern void *Op##m(size_t) __attribute__((weak));                            \
  extern void *Op##mSt11align_val_t(size_t, size_t) __attribute__((weak));     \
  extern void *Op##mRKSt9nothrow_t(size_t, nothrow) __attribute__((weak));     \
  extern void *Op##mSt11align_val_tRKSt9nothrow_t(size_t, size_t, nothrow)     \
      __attribute__((weak));                                                   \
                                                                               \
  MPROF_ENTRY void *__mprof_##Op##m(size_t size) {                             \
    struct mprof_alloc a;                                                      \
    if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_cxx()))                      \
      return BELOW(Op##m, (size));                                             \
    void *p = placed_block(&a, 1);                                             \
    return mprof_event_alloc(&a, p ? p : BELOW(Op##m, (size)));                \
  }                                                                            \
                                                                               \
  MPROF_ENTRY void *__mprof_##Op##mRKSt9nothrow_t(size_t size, nothrow n) {    \
    struct mprof_alloc a;                                                      \
    if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_cxx()))                      \
      return BELOW(Op##mRKSt9nothrow_t, (size, n));                            \
    void *p = placed_block(&a, 1);                                             \
    return mprof_event_alloc(&a,                                               \
                             p ? p : BELOW(Op##mRKSt9nothrow_t, (size, n)));   \
  }                                                                            \
                                                                               \
  MPROF_ENTRY void *__mprof_##Op##mSt11align_val_t(size_t size,                \
                                                   size_t align) {             \
    struct mprof_alloc a;                                                      \
    if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_cxx()))                      \
      return BELOW(Op##mSt11align_val_t, (size, align));                       \
    void *p = placed_block(&a, align);                                         \
    return mprof_event_alloc(                                                  \
        &a, p ? p : BELOW(Op##mSt11align_val_t, (size, align)));               \
  }                                                                            \
                                                                               \
  MPROF_ENTRY void *__mprof_##Op##mSt11align_val_tRKSt9nothrow_t(              \
      size_t size, size_t align, nothrow n) {                                  \
    struct mprof_alloc a;                                                      \
    if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_cxx()))                      \
      return BELOW(Op##mSt11align_val_tRKSt9nothrow_t, (size, align, n));      \
    void *p = placed_block(&a, align);                                         \
    return mprof_event_alloc(                                                  \
        &a,                                                                    \
        p ? p : BELOW(Op##mSt11align_val_tRKSt9nothrow_t, (size, align, n)));  \
  }

// Returns a block on a page boundary. Returns NULL if the operator must
// allocate the block. The operator itself allocates blocks whose alignment is
// above a page, and rejects an invalid alignment.
static void *placed_block(const struct mprof_alloc *a, size_t align) {
  if (!a->must_place || align > MPROF_PAGE || align == 0 ||
      (align & (align - 1)) != 0)
    return NULL;
  return mprof_place_block(a->size, align);
}

// Defines the entry of one operator delete. Params declares the parameters.
// Args is the list of arguments for the call of the operator.
#define DELETE(Symbol, Params, Args)                                           \
  extern void Symbol Params __attribute__((weak));                             \
  MPROF_ENTRY void __mprof_##Symbol Params {                                   \
    if (ptr)                                                                   \
      mprof_event_free(ptr);                                                   \
    BELOW(Symbol, Args);                                                       \
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

// --- functions that __mprof_next_* point to in place of the operators ---
//
// These functions are used in two cases. First, the program has no C++
// operators at start, because a library that the program opens later defines
// them. Second, the program's operators call an intercepted malloc, so the
// runtime must record the operator's call as the outermost allocation.

#define BENEATH(Result, Symbol, Params, Args)                                  \
  MPROF_TEXT_SECTION static Result beneath_##Symbol Params {                   \
    INSIDE_OPERATOR;                                                           \
    __typeof__(&Symbol) program_s = PROGRAM_S(Symbol);                         \
    return (mprof_likely(program_s != NULL) ? program_s : LATE(Symbol)) Args;  \
  }
#define BENEATH_NEW(Op)                                                        \
  BENEATH(void *, Op##m, (size_t size), (size))                                \
  BENEATH(void *, Op##mRKSt9nothrow_t, (size_t size, nothrow n), (size, n))    \
  BENEATH(void *, Op##mSt11align_val_t, (size_t size, size_t align),           \
          (size, align))                                                       \
  BENEATH(void *, Op##mSt11align_val_tRKSt9nothrow_t,                          \
          (size_t size, size_t align, nothrow n), (size, align, n))
#define BENEATH_DELETE(Op)                                                     \
  BENEATH(void, Op, (void *ptr), (ptr))                                        \
  BENEATH(void, Op##RKSt9nothrow_t, (void *ptr, nothrow n), (ptr, n))          \
  BENEATH(void, Op##m, (void *ptr, size_t size), (ptr, size))                  \
  BENEATH(void, Op##St11align_val_t, (void *ptr, size_t align), (ptr, align))  \
  BENEATH(void, Op##St11align_val_tRKSt9nothrow_t,                             \
          (void *ptr, size_t align, nothrow n), (ptr, align, n))               \
  BENEATH(void, Op##mSt11align_val_t, (void *ptr, size_t size, size_t align),  \
          (ptr, size, align))
BENEATH_NEW(_Znw)
BENEATH_NEW(_Zna)
BENEATH_DELETE(_ZdlPv)
BENEATH_DELETE(_ZdaPv)

#define NEW_ROWS(X, Op)                                                        \
  X(Op##m)                                                                     \
  X(Op##mRKSt9nothrow_t)                                                       \
  X(Op##mSt11align_val_t) X(Op##mSt11align_val_tRKSt9nothrow_t)
#define DELETE_ROWS(X, Op)                                                     \
  X(Op)                                                                        \
  X(Op##RKSt9nothrow_t)                                                        \
  X(Op##m)                                                                     \
  X(Op##St11align_val_t)                                                       \
  X(Op##St11align_val_tRKSt9nothrow_t) X(Op##mSt11align_val_t)
#define ROW(Symbol) {&__mprof_next_##Symbol, (void *)beneath_##Symbol},

void mprof_entry_new_init(void) {
  static const struct {
    void **word;
    void *beneath;
  } rows[] = {NEW_ROWS(ROW, _Znw) NEW_ROWS(ROW, _Zna) DELETE_ROWS(ROW, _ZdlPv)
                  DELETE_ROWS(ROW, _ZdaPv)};
  bool calls_malloc = mprof_intercepted.c && !mprof_intercepted.cxx;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    if (calls_malloc || !*rows[i].word)
      *rows[i].word = rows[i].beneath;
}
