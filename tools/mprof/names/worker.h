// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child process that reads the debug information of one program or library.
// The files may be damaged on purpose, so the process has limits, and a crash
// of it costs only the names of this file. It sends messages through a pipe.

#ifndef MPROF_TOOL_WORKER_H
#define MPROF_TOOL_WORKER_H

#include "names/places.h"
#include "names/slice.h"

#include <stddef.h>
#include <stdint.h>

// The first byte of a message says what follows.
enum {
  MESSAGE_PROBLEM = 'P', // why names are missing: a line for people
  MESSAGE_FRAMES = 'F',  // index and number of frames (uint32_t), then for each
                         // line and start line (int64_t), function and file
  MESSAGE_LOCK = 'L',    // index of the lock (uint32_t), and name of the
                         // variable as variable_name returns it
  MESSAGE_USED = 'U',    // path of a file that was used, its name in a bundle
  MESSAGE_END = 'E'
};

// An address of data: `after` bytes after the place where the byte at `offset`
// in the file is mapped.
struct lock_query {
  uint64_t offset, after;
};

struct job {
  const char *path, *build_id;
  const uint64_t *offsets; // in the file
  bool has_addresses;      // offsets are addresses of the ELF file instead
  size_t count;
  int64_t until_ns; // when the profile was written; 0: unknown
  // If there are locks, only these are named.
  const struct lock_query *locks;
  size_t lock_count;
};

// Does the job in a process of its own. Returns the messages, whose texts end
// with a 0 byte. The caller frees `at`.
struct slice worker_ask(const struct job *job, const struct places *places);

#endif
