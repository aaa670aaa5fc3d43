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

#endif
