// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the allocator beneath, which means the definitions of the heap
// functions that the runtime's interceptors replace. Instrumented call sites
// and the runtime's entries call each of these definitions through a pointer,
// the word __mprof_next_<function>.
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

// The allocator's definition of the function f. NEXT(f)(...) calls it through
// its address, which is stored in __mprof_next_f. f must be declared.
#define NEXT(f) ((__typeof__(&f))__mprof_next_##f)

// --- interceptors, in libraries of their own ---

// An interceptor is the runtime's own definition of a hooked function.
// Uninstrumented code calls this definition.
struct mprof_intercept {
  const char *name;
  void **word; // __mprof_next_<name>
  void *bound; // the definition that the program's calls reach
  void *own; // the interceptor; differs from bound if the program defines name
  void *plain; // the allocator's function; NULL: find it with dlsym
  // Only for C++ operators. If a library replaces the operators for the
  // program, mprof_next_find stores the library's definition in *library.
  void **library;
};
// The interceptors of malloc and its family, in libmprof_intercept.a. The last
// entry of the table has no name. The table is NULL if the library is not
// linked.
extern const struct mprof_intercept mprof_intercept_c[] __attribute__((weak));
// The interceptors of operator new and delete, in libmprof_rt_cxx.a.
extern const struct mprof_intercept mprof_intercept_cxx[] __attribute__((weak));

// Finds the allocator beneath and sets the words. The first call does the work;
// later calls return immediately. Returns false while the search is in
// progress: the loader allocates during the search and so calls the
// interceptors again. Takes the loader's lock.
bool mprof_next_find(void);

// Makes the interceptors count blocks from now on. Called when the runtime
// starts.
void mprof_next_start(void);

// The function families whose calls the interceptors receive. Written once by
// mprof_next_find.
extern struct mprof_intercepted {
  bool c;   // malloc's family
  bool cxx; // every form of operator new and delete
} mprof_intercepted;

// 1 if the interceptors count blocks, otherwise 0; see mprof_intercepts.
// Written once.
extern unsigned char mprof_intercept_is_on;

// Decides whether an interceptor counts its block of size bytes after the
// countdown has run out. caller is the return address of the interceptor's
// call. Returns false if the allocator itself called the interceptor, for
// example in a calloc that calls malloc: the block is then part of a block that
// its own call counts. In this case a due sample is dropped, so that the block
// does not change the probability of later blocks. Otherwise returns true and
// records that the caller is uninstrumented code, so that the stack is not
// unwound by frame pointers alone.
bool mprof_intercept_counts(size_t size, const void *caller);

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_HEAP_BENEATH_H
