// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of both sides by function and source line, to find the line of
// each function that has changed most.

#ifndef MPROF_TOOL_CHANGED_LINES_H
#define MPROF_TOOL_CHANGED_LINES_H

#include "common/intern.h"
#include "compare/sides.h"
#include "view/view.h"

struct changed_line {
  uint32_t row; // number of the function
  // The place on the new side, if it has the line. Lines of one function are
  // equal if their numbers are, because the sources of two builds may be in
  // different directories.
  struct frame_place place;
  double side[SIDES];
};

struct changed_lines {
  struct changed_line *items;
  size_t count, capacity;
  struct intern set;
};

// Adds the values of a stack, whose leaf is a function at a place.
void changed_lines_add(struct changed_lines *l, uint32_t row,
                       const struct frame_place *place,
                       const struct estimate side[SIDES]);
// Returns, for each of `rows` functions, the line with the largest difference,
// or NULL if no stack of the function was added. A line that is only on the old
// side is not chosen if another one is only on the new side with at least half
// of the value: the new build has probably moved the line. The caller frees the
// array.
const struct changed_line **changed_lines_choose(const struct changed_lines *l,
                                                 size_t rows);
void changed_lines_free(struct changed_lines *l);

#endif
