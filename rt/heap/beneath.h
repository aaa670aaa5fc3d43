// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocator beneath: what a hooked function of the heap was before the
// runtime stood in front of it. Sites and entries call it through a word each.

#ifndef MPROF_RT_HEAP_BENEATH_H
#define MPROF_RT_HEAP_BENEATH_H

#include "sys/abi_words.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// f itself, as its declaration in the file says, by way of its word.
#define NEXT(f) ((__typeof__(&f))__mprof_next_##f)

// --- interceptors, in archives of their own ---

// A hooked function that the runtime defines, so that code that was not
// rewritten calls it.
struct mprof_intercept {
  const char *name;
  void **word; // __mprof_next_<name>
  void *bound; // what the program calls by that name
  void *own;   // the runtime's definition; the program's own wins over it
  void *plain; // what lies beneath it; NULL: the next function of that name
  // Of operators: where the one goes that a library of the program's replaces
  // them by.
  void **library;
};
// libmprof_intercept.a: malloc and its kin. A table that ends with no name;
// NULL where the archive is not linked.
extern const struct mprof_intercept mprof_intercept_c[] __attribute__((weak));
// libmprof_rt_cxx.a: operator new and delete.
extern const struct mprof_intercept mprof_intercept_cxx[] __attribute__((weak));

// Finds the allocator beneath and sets the words; the first call does it, the
// others return at once. False while that is under way in this thread: the
// loader asks for memory itself. Takes the loader's lock.
bool mprof_next_find(void);

// Lets the interceptors count, from the runtime's start on.
void mprof_next_start(void);

// What the runtime stands in front of. Written once by mprof_next_find.
extern struct mprof_intercepted {
  bool c;   // malloc's family
  bool cxx; // every form of operator new and delete
} mprof_intercepted;

extern unsigned char mprof_intercept_is_on;

// Of a call that the countdown wants to be counted: whether it is. Where the
// allocator itself called, as a calloc that has its memory of malloc, it is
// part of a block that is counted already, and the sample is given up: what
// its bytes did to the countdown then changes nobody's chance of the next.
// Otherwise the runtime is told that the caller was not rewritten, so that its
// stack is not followed by frame pointers alone.
bool mprof_intercept_counts(size_t size, const void *caller);

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_HEAP_BENEATH_H
