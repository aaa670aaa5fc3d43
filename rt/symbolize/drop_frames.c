// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the regular expression for the functions whose frames readers of a
// profile omit. The expression matches the program's wrappers (wrappers.h). For
// heap profiles it also matches the runtime's functions, allocation functions,
// and the helpers in C++ libraries that call allocation functions.
//
// The expression does not match functions that lock or wait. The stack of a
// wait begins with such a function, and readers must show this function.

#include "symbolize/drop_frames.h"

#include "symbolize/wrappers.h"
#include "sys/message.h"

// The part of the expression that matches allocation functions. Readers match
// the expression with the whole name of a function, without parameters. Readers
// drop a matching frame and all frames between this frame and the leaf. So the
// expression does not match all functions of a library. Some functions of
// std::allocator_traits call constructors of the program, whose frames must
// stay.
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
    // The full name of a template function begins with its result type. This
    // part matches a result type that has no template arguments.
    "([^<]* )?(std::(__1::|__cxx11::|__detail::)?|__gnu_cxx::)("
    "(__new_allocator|new_allocator|allocator|allocator_traits)(<.*>)?::"
    "allocate(_at_least)?|"
    "_Vector_base(<.*>)?::_M_allocate|_(Rb_tree|List_base)(<.*>)?::_M_get_node|"
    "_Deque_base(<.*>)?::_M_allocate_(node|map)|"
    "_Hashtable(_alloc)?(<.*>)?::_M_allocate_buckets|"
    "basic_string(<.*>)?::_M_create|vector(<.*>)?::__vallocate|"
    "__allocate_(guarded|at_least)|__libcpp_(allocate|operator_new))"
    "(\\[abi:[^]]*\\])*(<.*>)?|__mprof_.*";

static void add_wrapper(const char *name, void *arg) {
  struct mprof_text *t = arg;
  size_t before = t->len;
  if (before > 0)
    mprof_text_str(t, "|");
  size_t start = t->len;
  mprof_wrapper_pattern(t, name);
  // Remove the new expression if it is empty or truncated. An empty expression
  // would match other functions, and a truncated expression may be invalid.
  if (t->len == start || t->len == t->cap - 1)
    t->len = before;
}

void mprof_drop_frames(struct mprof_text *t, bool allocators) {
  if (allocators)
    mprof_text_str(t, allocating);
  mprof_each_wrapper(add_wrapper, t);
}
