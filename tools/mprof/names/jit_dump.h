// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the two kinds of files that have the names of code made at run time:
// the map (jit_map.c) and the dump (jit_dump.c). A file is read once for all
// addresses, because it may have millions of entries. A later entry replaces
// earlier ones, because code is moved and freed.

#ifndef MPROF_TOOL_JIT_DUMP_H
#define MPROF_TOOL_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// A longer name is cut.
enum { JIT_MAX_NAME = 8192 };

// An address whose name is wanted.
struct jit_wanted {
  uint64_t address;
  size_t index; // of the address in the query
  // Name and place that a file has given; NULL and 0: none so far.
  char *name, *file;
  int64_t line;
  uint64_t moved; // number of the code that was moved here, plus 1; 0: none
};

// Returns the index of the first of the sorted addresses at w that is not less
// than the address.
size_t jit_first(const struct jit_wanted *w, size_t count, uint64_t address);
// Stores the name for an address, and forgets what was known.
void jit_set(struct jit_wanted *w, const char *name);

// Read a file for the `count` sorted addresses at w. Return false if the file
// is not of this kind.
bool jit_map_read(FILE *in, struct jit_wanted *w, size_t count);
bool jit_dump_read(FILE *in, struct jit_wanted *w, size_t count);

#endif
