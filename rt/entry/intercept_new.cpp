// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source of libmprof_rt_cxx.a. This library defines operator new and delete in
// the program, so that the C++ library's own calls of the operators are
// counted, too. These operators need no allocator but malloc. They are weak, so
// the program may replace any form of them. The forms that the program does not
// replace then call the replaced forms, as the standard requires. [new.delete]

#include "entry/intercept.h"
#include "heap/beneath.h"
#include "sys/abi_words.h"

#include <cstdlib>
#include <malloc.h>
#include <new>

using std::align_val_t;
using std::nothrow_t;

// --- the operators themselves, which call the allocator beneath ---

// Calls try_once until it returns a block. After each failure, calls the
// program's new_handler. Throws std::bad_alloc if there is no handler.
// [new.delete.single]
template <class Try> static void *obtain(Try try_once) {
  for (;;) {
    if (void *p = try_once())
      return p;
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      throw std::bad_alloc();
    handler();
  }
}

template <class Get> static void *or_null(Get get) noexcept {
  try {
    return get();
  } catch (...) {
    return nullptr;
  }
}

static void *get(size_t size) {
  return obtain([=] { return NEXT(malloc)(size ? size : 1); });
}
static void *get(size_t size, size_t align) {
  if (align == 0 || (align & (align - 1)) != 0)
    throw std::bad_alloc(); // libstdc++ does not call the handler here either
  return obtain([=] {
    void *p = nullptr;
    size_t least = align < sizeof(void *) ? sizeof(void *) : align;
    return NEXT(posix_memalign)(&p, least, size ? size : 1) == 0 ? p : nullptr;
  });
}

// --- the interceptors ---

static bool may_be_counted(const void *ptr) {
  return (reinterpret_cast<uintptr_t>(ptr) & __mprof_delete_mask) == 0;
}

// Returns whether calls of the operators are counted. They are not counted
// before the runtime starts. They are not counted either if the program or one
// of its libraries has replaced any of the operators. If a library has replaced
// them, the library_* variables point to that library's operators after this
// call.
static bool is_on() {
  if (mprof_intercepts() && mprof_intercepted.cxx)
    return true;
  mprof_next_find();
  return false;
}

using nothrow = const std::nothrow_t &;

// Declares the entry and the interceptor of an operator, and defines the
// operator as a weak alias of the interceptor. Symbol: the operator's mangled
// name.
#define OPERATOR(Result, Symbol, Params, Except)                               \
  extern "C" {                                                                 \
  Result __mprof_##Symbol Params Except;                                       \
  MPROF_TEXT_SECTION Result mprof_own_##Symbol Params Except;                  \
  MPROF_DATA Result Symbol Params Except                                       \
      __attribute__((weak, alias("mprof_own_" #Symbol)));                      \
  }

// NEW and DELETE define the interceptor of an operator.
// Plain: an expression that does the operator's work with the real malloc.
// Default: the call to make if is_on() returns false. This call reaches any
//   form of the operator that the program has replaced.
#define NEW(Symbol, Params, Args, Except, Plain, Default)                      \
  OPERATOR(void *, Symbol, Params, Except)                                     \
  static void *plain_##Symbol Params Except { return Plain; }                  \
  static void *library_##Symbol;                                               \
  void *mprof_own_##Symbol Params Except {                                     \
    if (__builtin_expect(!is_on(), 0))                                         \
      return library_##Symbol                                                  \
                 ? reinterpret_cast<void *(*)Params>(library_##Symbol) Args    \
                 : Default;                                                    \
    return mprof_intercept_asks(size) ? __mprof_##Symbol Args : Plain;         \
  }

#define DELETE(Symbol, Params, Args, Default)                                  \
  OPERATOR(void, Symbol, Params, noexcept)                                     \
  static void plain_##Symbol Params noexcept { NEXT(free)(ptr); }              \
  static void *library_##Symbol;                                               \
  void mprof_own_##Symbol Params noexcept {                                    \
    if (__builtin_expect(!is_on(), 0))                                         \
      library_##Symbol ? reinterpret_cast<void(*) Params>(library_##Symbol)    \
                             Args                                              \
                       : Default;                                              \
    else if (may_be_counted(ptr))                                              \
      __mprof_##Symbol Args;                                                   \
    else                                                                       \
      NEXT(free)(ptr);                                                         \
  }

NEW(_Znwm, (size_t size), (size), , get(size), get(size))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t align), (size, align), ,
    get(size, align), get(size, align))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, nothrow n), (size, n), noexcept,
    or_null([=] { return get(size); }), or_null([=] { return _Znwm(size); }))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, nothrow n),
    (size, align, n), noexcept, or_null([=] { return get(size, align); }),
    or_null([=] { return _ZnwmSt11align_val_t(size, align); }))
NEW(_Znam, (size_t size), (size), , get(size), _Znwm(size))
NEW(_ZnamSt11align_val_t, (size_t size, size_t align), (size, align), ,
    get(size, align), _ZnwmSt11align_val_t(size, align))
NEW(_ZnamRKSt9nothrow_t, (size_t size, nothrow n), (size, n), noexcept,
    or_null([=] { return get(size); }), or_null([=] { return _Znam(size); }))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, nothrow n),
    (size, align, n), noexcept, or_null([=] { return get(size, align); }),
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
   &library_##Symbol},
#define FORMS(Op)                                                              \
  ROW(Op)                                                                      \
  ROW(Op##RKSt9nothrow_t)                                                      \
  ROW(Op##St11align_val_t) ROW(Op##St11align_val_tRKSt9nothrow_t)
// clang-format off
const struct mprof_intercept mprof_intercept_cxx[] = {
    FORMS(_Znwm) FORMS(_Znam) FORMS(_ZdlPv) FORMS(_ZdaPv)
    ROW(_ZdlPvm) ROW(_ZdlPvmSt11align_val_t)
    ROW(_ZdaPvm) ROW(_ZdaPvmSt11align_val_t)
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr}};
// clang-format on
