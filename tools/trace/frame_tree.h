// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks that a JSON file shows, as a tree. A node is a frame, and its
// parent is the frame's caller. So the number of a leaf node identifies a whole
// stack, and the outer frames that several stacks share are stored only once.

#ifndef MPROF_TRACE_FRAME_TREE_H
#define MPROF_TRACE_FRAME_TREE_H

#include "common/idmap.h"

#include "text.h"

#include <stdint.h>
#include <stdio.h>

struct trace;

struct frame_node {
  uint32_t parent; // number of the caller's node; 0: none
  char *text;      // the frame, escaped for use in a JSON string
};

struct frame_tree {
  struct frame_node *nodes; // node N is nodes[N - 1]
  size_t count, capacity;
  struct idmap by_content; // maps a hash of parent and text to the node
  // Maps the ids of stacks to nodes. Since format 1.22, the map has only the
  // stacks of the generation with the number `generation`.
  struct idmap by_stack;
  uint64_t generation;
  uint64_t text_bytes; // of all texts
  // Writes the name of a function, escaped for JSON. NULL: the whole name.
  void (*put_name)(FILE *out, struct trace_text name);
};

// Adds a stack to the tree and returns its number, or 0 if the stack is empty.
// Keeps only the first max_frames frames. Call this when a slice (an interval
// in the JSON file) begins, because stack ids are valid only within their
// generation, and the slice may end in a later generation.
uint32_t frame_tree_add(struct frame_tree *tree, const struct trace *trace,
                        uint64_t stack, unsigned max_frames);
// Writes the frames of a stack, leaf first and one per line, escaped for use
// between the quotes of a JSON string.
void frame_tree_put_text(FILE *out, const struct frame_tree *tree,
                         uint32_t number);
// Writes the tree as the value of "stackFrames".
void frame_tree_put(FILE *out, const struct frame_tree *tree);
void frame_tree_clear(struct frame_tree *tree);

#endif
