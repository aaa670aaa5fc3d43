// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the CPU samples of a trace by function: that of the line that
// represents the sample's stack.

#ifndef MPROF_TRACE_SAMPLED_H
#define MPROF_TRACE_SAMPLED_H

#include "place.h"

#include <stddef.h>

struct sampled_function {
  struct place at; // without a line
  uint64_t key, samples;
};

struct sampled {
  struct sampled_function *functions;
  size_t count, capacity;
  uint64_t samples;
};

// Counts a sample with this stack. Ignores a sample without a stack.
void sampled_add(struct sampled *s, const struct trace *trace, uint64_t stack);
// Sorts the functions: the one with the most samples comes first.
void sampled_sort(struct sampled *s);
void sampled_clear(struct sampled *s);

#endif
