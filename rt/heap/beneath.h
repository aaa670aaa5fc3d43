// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the allocator beneath the interceptors. Interceptors are the runtime's
// definitions of malloc and other heap functions. The interceptors replace the
// definitions of the program's allocator, which is called the allocator
// beneath. Instrumented call sites and the runtime's entries call the allocator
// beneath through pointers, the words __mprof_next_<function>.
//
//   uninstrumented code -> interceptor --.
//   instrumented site -------------------+-> word -> allocator beneath
//   instrumented site -> entry ----------'
//
// The words are written once, before the program has threads.

#ifndef MPROF_RT_HEAP_BENEATH_H
#define MPROF_RT_HEAP_BENEATH_H

#include "sys/abi_words.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mprof_heap_function {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr) MPROF_HEAP_##Symbol,
#include "mprof/hooks.def"
};
// The address of each hooked heap function, in the order of hooks.def. NULL if
// the program has no such function: a C program has no C++ operators.
extern char *const mprof_heap_functions[];

// --- interceptors ---

// An interceptor is the runtime's own definition of a heap function.
// Uninstrumented code calls this definition instead of the allocator's.
struct mprof_intercept {
  const char *name;
  void **word; // address of the word __mprof_next_<name>
  void *bound; // the definition that the program's calls reach
  // The interceptor. Differs from `bound` if the program defines the function.
  void *own;
  void *plain; // the allocator's function; NULL: find it with dlsym
  // Only for C++ operators; otherwise NULL. If a library replaces the operators
  // for the program, mprof_next_find stores the library's definition in
  // *library. In libmprof_preload.so, it also stores the C++ library's.
  void **library;
  // NULL, or the place in which mprof_next_find stores the next definition
  // after the interceptor, also if the program defines the function. In
  // libmprof_preload.so, the program's definition may call the interceptor by
  // dlsym(RTLD_NEXT). So the interceptor must not call the program's.
  void **next;
};
// The interceptors of malloc and its family. The name of the last entry is
// NULL. In a static program, the first entry has `plain`, and entries without
// it are not used. Only read the table if mprof_next_is_linked.
extern const struct mprof_intercept mprof_intercept_c[] __attribute__((weak));
// The interceptors of operator new and delete, in libmprof_rt_cxx.a. The whole
// table is NULL if the library is not linked.
extern const struct mprof_intercept mprof_intercept_cxx[] __attribute__((weak));
// Defined if the program was linked in a way that lets uninstrumented code call
// the interceptors of malloc (entry/intercept_heap.c).
extern const char mprof_intercept_is_linked
    __attribute__((weak, visibility("hidden")));
// Returns whether the symbol above is defined.
bool mprof_next_is_linked(void);
// Returns whether the program's calls of the function reach the interceptor.
bool mprof_next_is_own(const struct mprof_intercept *i);

// Finds the allocator beneath the interceptors and sets the words
// __mprof_next_<function>. Only the first call does the work. The loader may
// allocate memory during the search, and so call an interceptor, which calls
// this function again. This nested call returns false. All other calls return
// true. Takes the loader's lock.
bool mprof_next_find(void);

// Makes the interceptors count blocks from now on. Call this when the runtime
// starts.
void mprof_next_start(void);

// The function families for which all calls reach the interceptors. Written
// once by mprof_next_find.
extern struct mprof_intercepted {
  bool c;   // malloc's family
  bool cxx; // every form of operator new and delete
} mprof_intercepted;

// Which families' interceptors count blocks. All are 0 before the runtime has
// started. Written once, by mprof_next_start. Read by mprof_intercepts.
extern struct mprof_intercept_is_on {
  unsigned char c;   // malloc's family
  unsigned char cxx; // operator new and delete
} mprof_intercept_is_on;

// Decides whether an interceptor counts a block of `size` bytes. Call this when
// the sampling countdown has run out. `caller` is the interceptor's return
// address.
//
// Returns false if the allocator itself has called the interceptor, for example
// if calloc calls malloc. The inner block is then part of a block that is
// counted itself. In this case a due sample is dropped, so that the inner block
// does not change the probability of later blocks.
//
// Otherwise returns true.
bool mprof_intercept_counts(size_t size, const void *caller);

#define MPROF_MUSTTAIL __attribute__((musttail))

// Returns whether the calls of a family by uninstrumented code are counted.
// is_on: &mprof_intercept_is_on.c or &mprof_intercept_is_on.cxx. The calls are
// counted if the runtime has started and all calls of the family reach the
// interceptors.
static inline bool mprof_intercepts(const unsigned char *is_on) {
  return __builtin_expect(__atomic_load_n(is_on, __ATOMIC_RELAXED) != 0, 1);
}

// Returns whether an interceptor must call the entry __mprof_f instead of the
// allocator's f, after mprof_count_down(size) has returned true. The function
// that calls this macro has been entered by a jump from the interceptor, so its
// return address is that of the interceptor.
#define MPROF_INTERCEPT_COUNTS(size)                                           \
  mprof_intercept_counts(size, __builtin_return_address(0))

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_HEAP_BENEATH_H
