// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a view by stack, and by path from the root.

#ifndef MPROF_TOOL_STACKS_H
#define MPROF_TOOL_STACKS_H

#include "view/shown_frames.h"

// The stacks of a view whose shown frames are equal, for example with blocks of
// different sizes.
struct stack_row {
  size_t first; // in stack_table.frames, leaf first
  uint32_t count, samples;
  uint32_t first_stack, last_stack; // of the view; next_stack links them
  int64_t value;
  // The largest absolute value of one stack of the row. The frames have the
  // places of this stack.
  int64_t largest;
  double variance;
};

struct stack_table {
  struct stack_row *rows;
  struct shown_frame *frames;
  // For each stack of the view: the next one of the same row, or NO_STACK.
  uint32_t *next_stack;
  size_t count, capacity, frame_count, frame_capacity;
};
enum { NO_STACK = UINT32_MAX };

// Returns the stacks, sorted by the absolute value, then by their order in the
// profile.
struct stack_table stacks_of(const struct view *v, bool keeps_std);
void stacks_free(struct stack_table *t);

// A call tree. Node 0 is the root, which has no frame. Children come after
// their parent.
struct call_node {
  uint32_t parent;
  struct shown_frame shown;
  int64_t own, total; // value of the node itself, and with its callees
  // The largest absolute value of one stack through the node. shown.place is
  // in this stack, at the innermost one of frames that call themselves.
  int64_t largest;
  uint32_t first_child, next_sibling; // 0: none; sorted by the total
};

struct call_tree {
  struct call_node *nodes;
  size_t count, capacity;
};

struct call_tree calls_of(const struct view *v, bool keeps_std);
void calls_free(struct call_tree *t);
// Returns the numbers of all nodes, those with the largest totals first. The
// caller frees the array.
uint32_t *calls_by_total(const struct call_tree *t);

#endif
