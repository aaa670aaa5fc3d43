// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens the names of functions that are too long for a message. The
// demangled name of a C++ template can have megabytes, because it repeats each
// argument wherever the mangled name only refers to it.

#ifndef MPROF_TOOL_CUT_NAME_H
#define MPROF_TOOL_CUT_NAME_H

#include "symbolize/symbolizer_protocol.h"

#include <stddef.h>

// Each of at most MPROF_CUT_FRAMES frames of an address gets MPROF_CUT_LEAST
// bytes at least. Together they have less than MPROF_CUT_ALL bytes.
enum {
  MPROF_CUT_FRAMES = 256,
  MPROF_CUT_LEAST = 126,
  MPROF_CUT_ALL = 32768,
};

// Returns how many bytes a frame may have, if `left` bytes are left for it and
// the `after` frames that follow. Inner frames come first, so they are
// shortened last.
static inline size_t mprof_cut_room(size_t left, size_t after) {
  const size_t reserved = after * MPROF_CUT_LEAST;
  return left > reserved + MPROF_CUT_LEAST ? left - reserved : MPROF_CUT_LEAST;
}

// Shortens a name in place to at most `max` bytes without the null byte; max is
// at least 16. Replaces template arguments by "...", the innermost first. If
// this does not suffice, replaces the middle of the name by the mark. Returns
// the new length.
size_t mprof_cut_name(char *name, size_t max);

// Shortens the name of a function and the path of its source file, which have
// `room` bytes together, at least 32. Keeps the end of the path.
void mprof_cut_frame(char *function, char *path, size_t room);

#endif // MPROF_TOOL_CUT_NAME_H
