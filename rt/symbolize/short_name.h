// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names of functions: names without the parts that make the names of
// templates fill the screen. pprof shows functions in the same way.

#ifndef MPROF_RT_SYMBOLIZE_SHORT_NAME_H
#define MPROF_RT_SYMBOLIZE_SHORT_NAME_H

#include "sys/text.h"

// Copies a demangled name into t without its result type, template arguments
// and parameters. Also drops the suffixes that the compiler adds to mark an ABI
// or a part of a function. For example:
//   "long *ns::box<int>::make[abi:x]<long>(int)"  ->  "ns::box::make"
void mprof_short_name(struct mprof_text *t, const char *name);

// Returns whether c may be part of a word of a function's name.
bool mprof_is_word(char c);

#endif // MPROF_RT_SYMBOLIZE_SHORT_NAME_H
