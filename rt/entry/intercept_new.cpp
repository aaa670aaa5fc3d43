// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source of libmprof_rt_cxx.a. This library defines operator new and delete in
// the program, so that the C++ library's own calls of the operators are
// counted, too. These operators need no allocator but malloc. They are weak, so
// the program may replace any form of them. The forms that the program does not
// replace then call the replaced forms, as the standard requires. [new.delete]

#include "heap/beneath.h"
#include "sys/abi_words.h"

#include <cstdlib>
#include <malloc.h>
#include <new>

using std::align_val_t;
using std::nothrow_t;

// In intercept_throw.cpp.
[[noreturn]] void mprof_throw_bad_alloc();

// --- the operators themselves, which call the allocator beneath ---

static bool is_valid(size_t align) {
  return align != 0 && (align & (align - 1)) == 0;
}

static void *try_get(size_t size) noexcept {
  return NEXT(malloc)(size ? size : 1);
}
static void *try_get(size_t size, size_t align) noexcept {
  if (!is_valid(align))
    return nullptr;
  void *p = nullptr;
  size_t least = align < sizeof(void *) ? sizeof(void *) : align;
  return NEXT(posix_memalign)(&p, least, size ? size : 1) == 0 ? p : nullptr;
}

// Makes clang set up a frame pointer in the calling function. The program's
// code that the function calls may allocate, and its stack is then followed
// through the function.
#define KEEP_FRAME()                                                           \
  (void)*static_cast<void *volatile *>(__builtin_frame_address(0))

// Calls the program's new_handler and try_get until try_get returns a block.
// Throws std::bad_alloc if there is no handler. [new.delete.single]
template <class... Align>
[[gnu::noinline]] static void *get_by_handler(size_t size, Align... align) {
  KEEP_FRAME();
  // libstdc++ does not call the handler for a wrong alignment either.
  if ((... || !is_valid(align)))
    mprof_throw_bad_alloc();
  for (;;) {
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      mprof_throw_bad_alloc();
    handler();
    if (void *p = try_get(size, align...))
      return p;
  }
}

template <class... Align> static void *get(size_t size, Align... align) {
  if (void *p = try_get(size, align...))
    return p;
  return get_by_handler(size, align...);
}

template <class Get> static void *or_null(Get get) noexcept {
  KEEP_FRAME();
  try {
    return get();
  } catch (...) {
    return nullptr;
  }
}

// --- the interceptors ---

static bool may_be_counted(const void *ptr) {
  return (reinterpret_cast<uintptr_t>(ptr) & __mprof_delete_mask) == 0;
}

using nothrow = const std::nothrow_t &;

// Declares the entry and the interceptor of an operator, and defines the
// operator as a weak alias of the interceptor. Symbol: the operator's mangled
// name.
#define OPERATOR(Result, Symbol, Params)                                       \
  extern "C" {                                                                 \
  Result __mprof_##Symbol Params;                                              \
  MPROF_TEXT_SECTION Result mprof_own_##Symbol Params;                         \
  MPROF_DATA Result Symbol Params                                              \
      __attribute__((weak, alias("mprof_own_" #Symbol)));                      \
  }

// Calls of the operators are not counted before the runtime starts. They are
// not counted either if the program or one of its libraries has replaced any of
// the operators. If a library has replaced them, the library_* variables point
// to that library's operators after mprof_next_find.

// NEW and DELETE define the interceptor of an operator. The interceptor leaves
// the rarer cases to other functions by jumps, so it saves few registers. These
// functions are not declared noexcept, because clang then refuses the jumps.
// Try: an expression that calls the real malloc once, or nullptr. If it returns
//   no block, Plain tries again before it calls the new_handler.
// Plain: an expression that does the operator's work with the real malloc.
// Default: the call to make if calls are not counted. This call reaches any
//   form of the operator that the program has replaced.
#define NEW(Symbol, Params, Args, Try, Plain, Default)                         \
  OPERATOR(void *, Symbol, Params)                                             \
  [[gnu::noinline]] static void *plain_##Symbol Params { return Plain; }       \
  static void *library_##Symbol;                                               \
  [[gnu::noinline]] static void *uncounted_##Symbol Params {                   \
    KEEP_FRAME();                                                              \
    mprof_next_find();                                                         \
    return library_##Symbol                                                    \
               ? reinterpret_cast<void *(*)Params>(library_##Symbol) Args      \
               : Default;                                                      \
  }                                                                            \
  [[gnu::noinline]] static void *asked_##Symbol Params {                       \
    if (MPROF_INTERCEPT_COUNTS(size))                                          \
      MPROF_MUSTTAIL return __mprof_##Symbol Args;                             \
    return plain_##Symbol Args;                                                \
  }                                                                            \
  void *mprof_own_##Symbol Params {                                            \
    if (!mprof_intercepts(&mprof_intercept_is_on.cxx))                         \
      MPROF_MUSTTAIL return uncounted_##Symbol Args;                           \
    if (mprof_count_down(size))                                                \
      MPROF_MUSTTAIL return asked_##Symbol Args;                               \
    if (void *p = Try)                                                         \
      return p;                                                                \
    MPROF_MUSTTAIL return plain_##Symbol Args;                                 \
  }

#define DELETE(Symbol, Params, Args, Default)                                  \
  OPERATOR(void, Symbol, Params)                                               \
  static void plain_##Symbol Params { NEXT(free)(ptr); }                       \
  static void *library_##Symbol;                                               \
  [[gnu::noinline]] static void uncounted_##Symbol Params {                    \
    KEEP_FRAME();                                                              \
    mprof_next_find();                                                         \
    library_##Symbol ? reinterpret_cast<void(*) Params>(library_##Symbol) Args \
                     : Default;                                                \
  }                                                                            \
  void mprof_own_##Symbol Params {                                             \
    if (!mprof_intercepts(&mprof_intercept_is_on.cxx))                         \
      MPROF_MUSTTAIL return uncounted_##Symbol Args;                           \
    if (may_be_counted(ptr)) {                                                 \
      if (!ptr)                                                                \
        return;                                                                \
      MPROF_MUSTTAIL return __mprof_##Symbol Args;                             \
    }                                                                          \
    MPROF_MUSTTAIL return plain_##Symbol Args;                                 \
  }

NEW(_Znwm, (size_t size), (size), try_get(size), get(size), get(size))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t align), (size, align), nullptr,
    get(size, align), get(size, align))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, nothrow n), (size, n), try_get(size),
    or_null([=] { return get(size); }), or_null([=] { return _Znwm(size); }))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, nothrow n),
    (size, align, n), nullptr, or_null([=] { return get(size, align); }),
    or_null([=] { return _ZnwmSt11align_val_t(size, align); }))
NEW(_Znam, (size_t size), (size), try_get(size), get(size), _Znwm(size))
NEW(_ZnamSt11align_val_t, (size_t size, size_t align), (size, align), nullptr,
    get(size, align), _ZnwmSt11align_val_t(size, align))
NEW(_ZnamRKSt9nothrow_t, (size_t size, nothrow n), (size, n), try_get(size),
    or_null([=] { return get(size); }), or_null([=] { return _Znam(size); }))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, nothrow n),
    (size, align, n), nullptr, or_null([=] { return get(size, align); }),
    or_null([=] { return _ZnamSt11align_val_t(size, align); }))

DELETE(_ZdlPv, (void *ptr), (ptr), NEXT(free)(ptr))
DELETE(_ZdlPvRKSt9nothrow_t, (void *ptr, nothrow n), (ptr, n), _ZdlPv(ptr))
DELETE(_ZdlPvm, (void *ptr, size_t size), (ptr, size), _ZdlPv(ptr))
DELETE(_ZdlPvSt11align_val_t, (void *ptr, size_t align), (ptr, align),
       NEXT(free)(ptr))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
       (void *ptr, size_t align, nothrow n), (ptr, align, n),
       _ZdlPvSt11align_val_t(ptr, align))
DELETE(_ZdlPvmSt11align_val_t, (void *ptr, size_t size, size_t align),
       (ptr, size, align), _ZdlPvSt11align_val_t(ptr, align))
DELETE(_ZdaPv, (void *ptr), (ptr), _ZdlPv(ptr))
DELETE(_ZdaPvRKSt9nothrow_t, (void *ptr, nothrow n), (ptr, n), _ZdaPv(ptr))
DELETE(_ZdaPvm, (void *ptr, size_t size), (ptr, size), _ZdaPv(ptr))
DELETE(_ZdaPvSt11align_val_t, (void *ptr, size_t align), (ptr, align),
       _ZdlPvSt11align_val_t(ptr, align))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
       (void *ptr, size_t align, nothrow n), (ptr, align, n),
       _ZdaPvSt11align_val_t(ptr, align))
DELETE(_ZdaPvmSt11align_val_t, (void *ptr, size_t size, size_t align),
       (ptr, size, align), _ZdaPvSt11align_val_t(ptr, align))

#define ROW(Symbol)                                                            \
  {#Symbol,                                                                    \
   &__mprof_next_##Symbol,                                                     \
   reinterpret_cast<void *>(Symbol),                                           \
   reinterpret_cast<void *>(mprof_own_##Symbol),                               \
   reinterpret_cast<void *>(plain_##Symbol),                                   \
   &library_##Symbol,                                                          \
   nullptr},
#define FORMS(Op)                                                              \
  ROW(Op)                                                                      \
  ROW(Op##RKSt9nothrow_t)                                                      \
  ROW(Op##St11align_val_t) ROW(Op##St11align_val_tRKSt9nothrow_t)
// clang-format off
const struct mprof_intercept mprof_intercept_cxx[] = {
    FORMS(_Znwm) FORMS(_Znam) FORMS(_ZdlPv) FORMS(_ZdaPv)
    ROW(_ZdlPvm) ROW(_ZdlPvmSt11align_val_t)
    ROW(_ZdaPvm) ROW(_ZdaPvmSt11align_val_t)
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr}};
// clang-format on
