// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocator beneath: what a hooked function of the heap was before the
// runtime stood in front of it. Sites and entries call it through a word each.

#ifndef MPROF_RT_NEXT_H
#define MPROF_RT_NEXT_H

#include "fastpath.h"

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
// Where operator new and delete may come later, with a library that is opened,
// or are the program's own, and allocate by an intercepted malloc: entry_new.c.
void mprof_entry_new_init(void);

// What the runtime stands in front of. Written once by mprof_next_find.
extern struct mprof_intercepted {
  bool c;   // malloc's family
  bool cxx; // every form of operator new and delete
} mprof_intercepted;

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_NEXT_H
