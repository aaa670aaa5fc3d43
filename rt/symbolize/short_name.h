// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names of functions: names without the parts that make the names of
// templates fill the screen. pprof shows functions in the same way.

#ifndef MPROF_RT_SYMBOLIZE_SHORT_NAME_H
#define MPROF_RT_SYMBOLIZE_SHORT_NAME_H

#include "sys/message.h"

enum mprof_name_form {
  // Bits of the argument `form` of mprof_short_name.
  MPROF_NAME_IS_CXX = 1,         // the name is known to be a name of C++
  MPROF_NAME_KEEPS_ARGUMENTS = 2 // keeps the template arguments
};

// Copies the name of a function into t. A demangled name of C++ loses its
// result type, template arguments, parameters and ABI tags. All names lose the
// suffixes of mprof_name_length. For example:
//   "long *ns::box<int>::make[abi:x]<long>(int)"  ->  "ns::box::make"
//   "main.(*Ring[go.shape.int32]).Push"           ->  the same
// Unless MPROF_NAME_IS_CXX is set, only a name with a list of parameters, and
// with nothing that C++ does not allow, counts as a name of C++. form: bits of
// enum mprof_name_form. Returns whether the name is a name of C++ by its form.
bool mprof_short_name(struct mprof_text *t, const char *name, unsigned form);

// Returns the length of a function's name without the suffixes that compilers
// add to a part or a copy of a function, such as ".cold", ".part.0",
// " (.llvm.123)" and " [clone .isra.0]". len: length of the name.
size_t mprof_name_length(const char *name, size_t len);

// Writes to out the name of a Rust function as in the source text, if `name` is
// a name in the older ("legacy") mangling that a demangler of C++ has
// demangled. Returns the length of the written name, which is less than len, or
// 0 for other names. Adds no null byte. out: at least len bytes, may be name.
// For example:
//   "_$LT$m..A$u20$as$u20$m..Make$GT$::make::h0123456789abcdef"
//     ->  "<m::A as m::Make>::make"
size_t mprof_rust_name(char *out, const char *name, size_t len);

// Returns whether pprof would take the name for a name of C++, and cut it,
// although it has the form of another language, as
// "<m::A as m::Make>::make" has. (pprof: looksLikeDemangledCPlusPlus)
bool mprof_name_is_foreign(const char *name);

// Returns whether c may be part of a word of a function's name.
bool mprof_is_word(char c);

#endif // MPROF_RT_SYMBOLIZE_SHORT_NAME_H
