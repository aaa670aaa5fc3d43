// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source line that represents a stack.

#ifndef MPROF_TRACE_PLACE_H
#define MPROF_TRACE_PLACE_H

#include "text.h"

#include <stdint.h>

struct trace;

// The source line that represents a stack: the innermost line of the program
// itself. Lines in system headers, such as those of std::mutex, are skipped.
struct place {
  struct trace_text function, file; // empty if not known
  uint64_t line, pc;                // pc 0: there is no stack
};

struct place place_of(const struct trace *trace, uint64_t stack);
// Returns the key of a source line: a hash of its function, file and line
// number. String ids and stack ids are not usable as keys, because they change
// with the generation. Two lines with the same 64-bit hash would be merged, but
// this is very unlikely.
uint64_t place_key(const struct place *p);

#endif
