// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the names of code that a process has made at run time (just in time),
// in the file /tmp/perf-PID.map that the process has written for perf. Node.js,
// Java, Python, .NET and LuaJIT can write it.
//
// Any user can create files in /tmp, and the file of an earlier process with
// the same number may still exist. So a file is used only if its owner and its
// time are right.

#ifndef MPROF_TOOL_JIT_NAMES_H
#define MPROF_TOOL_JIT_NAMES_H

#include "names/debug_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct jit_query {
  const char *mapping; // "[JIT PID]", see symbolizer_protocol.h
  const char *sysroot; // the directory of the machine's files, or NULL
  // The number in /proc of the process, if it is running, or 0. The file must
  // not be older than the process.
  pid_t process;
  // When the profile was written (CLOCK_REALTIME): the file must not be newer.
  // 0: unknown.
  int64_t until_ns;
  const uint64_t *addresses;
  size_t count;
};

// Returns the number in the name of a mapping.
unsigned long jit_names_pid(const char *mapping);
// Calls `found` for each address that has a name. Returns NULL, or why a file
// was not used: a line for people, which the caller frees.
char *jit_names_find(const struct jit_query *q, frames_fn *found, void *arg);

// --- files of perf with code made at run time ---
//
// Reads the two kinds of files that have the names of code made at run time:
// the map and the dump (both jit_dump.c). A file is read once for all
// addresses, because it may have millions of entries. A later entry replaces
// earlier ones, because code is moved and freed.

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
