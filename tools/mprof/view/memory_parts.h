// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a memory profile (memory/account.h): its samples by their
// outermost frame, and by what is known of their bytes.

#ifndef MPROF_TOOL_MEMORY_PARTS_H
#define MPROF_TOOL_MEMORY_PARTS_H

#include "memory/account.h"
#include "view/shown_frames.h"

struct memory_usage {
  int64_t rss, pss, private_dirty, swap; // bytes
  // Bytes of blocks that keep free memory, in the pages with this memory. Other
  // than 0 if the bytes above are such memory.
  int64_t used_beside;
};

// The bytes of a part that belong to the same file, thread, arena or line.
struct memory_row {
  char *name; // "": nothing more is known
  struct memory_usage usage;
};

struct memory_part {
  enum mprof_memory_part id;
  const char *text; // for people
  struct memory_usage usage;
  struct memory_row *rows; // the largest ones first
  size_t row_count, row_capacity;
};

struct memory_parts {
  struct memory_part parts[MPROF_MEMORY_PART_COUNT]; // the largest ones first
  size_t count;
  struct memory_usage total;
};

// Returns whether the profile is a memory profile.
bool memory_is(const struct profile *p);
// Returns the parts of a memory profile. v: a view of its type rss that keeps
// zeros. Returns false if a sample has no part.
bool memory_parts_of(const struct view *v, struct memory_parts *m);
// Returns the part, or NULL if it has no bytes.
const struct memory_part *memory_part_find(const struct memory_parts *m,
                                           enum mprof_memory_part id);

#endif
