// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which frames readers of a profile leave out: the runtime's own, the program's
// wrappers and, of the heap profile, the functions that allocate and what the
// C++ libraries put around them. The functions that lock and wait stay: there a
// stack begins with them.

#include "writer.h"

// An expression that readers match with a whole function name without its
// parameters: such a frame goes, and everything leafwards of it. So it names
// what allocates, not all of a library: constructors are called from some of
// std::allocator_traits, and their frames must stay.
static const char allocating[] =
#define ALLOC(Symbol) #Symbol "|"
#define REALLOC(Symbol) #Symbol "|"
#define DUP(Symbol) #Symbol "|"
#define FREE(Symbol)
#define DELETE(Symbol)
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr) Rule(Symbol)
#include "mprof/hooks.def"
#undef ALLOC
#undef REALLOC
#undef DUP
#undef FREE
#undef DELETE
    "operator new(\\[\\])?|"
    "std::(__1::)?(__new_allocator|allocator|allocator_traits)(<.*>)?::"
    "allocate(_at_least)?|__gnu_cxx::new_allocator(<.*>)?::allocate|"
    "std::__1::__libcpp_(allocate|operator_new).*|__mprof_.*";

static void add_wrapper(const char *name, void *arg) {
  struct mprof_text *t = arg;
  size_t before = t->len;
  if (before > 0)
    mprof_text_str(t, "|");
  size_t start = t->len;
  mprof_wrapper_pattern(t, name);
  // One that is empty or cut would match something else, or be no expression.
  if (t->len == start || t->len == t->cap - 1)
    t->len = before;
}

void mprof_drop_frames(struct mprof_text *t, bool allocators) {
  if (allocators)
    mprof_text_str(t, allocating);
  mprof_each_wrapper(add_wrapper, t);
}
