// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a view by frame: the table that mprof top shows.

#ifndef MPROF_TOOL_FUNCTIONS_H
#define MPROF_TOOL_FUNCTIONS_H

#include "view/shown_frames.h"

struct function_row {
  // The frame. shown.via: the library function that the frame called for at
  // least two thirds of its own value, or NO_FRAME. shown.place: where the
  // frame is in the stack with the largest value among those that end with the
  // frame (and its call of shown.via), or else among those that have the frame.
  struct shown_frame shown;
  int64_t flat, cum; // values of the frame itself, and with its callees
  double flat_variance, cum_variance;
};

struct function_table {
  struct function_row *rows;
  size_t count;
};

// Returns one row for each frame, sorted by the absolute flat value (by_cum:
// the cum value), then by name (pprof: graph.FlatNameOrder, CumNameOrder). Rows
// without a flat value come last, sorted by the cum value.
struct function_table functions_of(const struct view *v, bool keeps_std,
                                   bool by_cum);
void functions_free(struct function_table *t);

#endif
