// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocator beneath: the definitions that heap functions had before the
// runtime's interceptors stood in front of them. Sites and entries call each
// function through a word, __mprof_next_<function>.
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

// Calls the function f beneath, by its word. f must be declared in the file.
#define NEXT(f) ((__typeof__(&f))__mprof_next_##f)

// --- interceptors, in libraries of their own ---

// An interceptor: a definition of a hooked function by the runtime, which
// uninstrumented code calls.
struct mprof_intercept {
  const char *name;
  void **word; // __mprof_next_<name>
  void *bound; // the definition to which the program's calls are bound
  void *own;   // the interceptor; the program's own definition precedes it
  void *plain; // the function beneath; NULL: the next definition of the name
  // For operators: where to store the definition of a library that replaces
  // them for the program.
  void **library;
};
// The interceptors of malloc and its family, in libmprof_intercept.a. The table
// ends with an entry without a name. NULL if the library is not linked.
extern const struct mprof_intercept mprof_intercept_c[] __attribute__((weak));
// The interceptors of operator new and delete, in libmprof_rt_cxx.a.
extern const struct mprof_intercept mprof_intercept_cxx[] __attribute__((weak));

// Finds the allocator beneath and sets the words. The first call does the work;
// later calls return at once. Returns false while the work is under way in this
// thread: the loader itself allocates during the search. Takes the loader's
// lock.
bool mprof_next_find(void);

// Lets the interceptors count from now on. Called at the runtime's start.
void mprof_next_start(void);

// Function families that the interceptors serve. Written once by
// mprof_next_find.
extern struct mprof_intercepted {
  bool c;   // malloc's family
  bool cxx; // every form of operator new and delete
} mprof_intercepted;

// 1 if the interceptors count; see mprof_intercepts. Written once.
extern unsigned char mprof_intercept_is_on;

// Decides whether to count an interceptor's call for which the countdown has
// run out. caller: the return address of the call. If the allocator itself has
// called, for example a calloc that calls malloc, the block is part of a block
// that is already counted. Then the sample is lost, so the block's size does
// not change the chance of later blocks. Otherwise notes that the caller is
// uninstrumented code, so that its stack is not unwound by frame pointers
// alone.
bool mprof_intercept_counts(size_t size, const void *caller);

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_HEAP_BENEATH_H
