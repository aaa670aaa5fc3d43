// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of a page, for the files that fill them.

#ifndef MPROF_TOOL_PAGE_DATA_H
#define MPROF_TOOL_PAGE_DATA_H

#include "common/intern.h"
#include "html/page_role.h"
#include "html/stream.h"
#include "view/view.h"

struct small_losses;

enum { GRAINS = GRAIN_FILES + 1 };

// A frame as a view with one grain shows it.
struct page_function {
  uint32_t name, file; // texts
  int64_t line;
  uint32_t is_std;
  uint32_t module; // text: the name of its library, "" in the program itself
};

// A frame of a stack: its numbers in the tables of functions of all grains.
struct page_frame {
  uint32_t functions[GRAINS];
};

// A path from the root. Node 0 is the root.
struct page_node {
  uint32_t parent, frame;
  uint32_t first_child, last_child, next_sibling; // 0: none
  uint32_t number; // in the page, where callees follow their callers
};

struct page_label {
  uint32_t key, value; // texts
};

struct page_labels {
  size_t first; // in page.labels
  uint32_t count;
};

struct page_list {
  char **items;
  size_t count, capacity;
};

struct page_set {
  struct profile *profile;
  const char *kind, *name;
  char *lost;  // lines that say which data are missing
  char *notes; // lines for the overview, or NULL
  enum page_role role;
  // For each stack: its node, its labels, and the values of all types.
  uint32_t *nodes, *label_sets;
  int64_t *values;
  size_t count;
  uint32_t *samples; // of each stack in the profile, before stacks are cut off
  // The number of stacks for which each stack stands if it is the rest of a
  // node, or 0; and the losses of functions. NULL if no stacks are cut off.
  uint32_t *joined;
  // Flags of the stacks that lose their labels because labels need too much
  // room, and their number.
  uint8_t *unlabelled;
  size_t unlabelled_count;
  size_t stack_count; // before stacks were cut off
  struct small_losses *small;
};

// The numbers that the script knows: tables have only what the page shows.
// NOT_WRITTEN: the page does not have it.
enum { NOT_WRITTEN = UINT32_MAX };
struct page_numbers {
  uint32_t *texts, *functions[GRAINS], *frames, *label_sets;
  uint32_t *frame_order; // the frames of the page
  size_t frame_count;
};

struct page {
  struct profile *texts; // only its strings are used
  struct page_function *functions[GRAINS];
  size_t function_count[GRAINS], function_capacity[GRAINS];
  struct intern function_sets[GRAINS];
  // The names in the source text of functions with shorter shown names.
  struct stream whole_names;
  size_t whole_name_count;
  struct page_frame *frames;
  size_t frame_count, frame_capacity;
  struct intern frame_set;
  struct page_node *nodes;
  size_t node_count, node_capacity;
  struct intern node_set;
  struct page_label *labels;
  struct page_labels *label_sets;
  size_t label_count, label_capacity, label_set_count, label_set_capacity;
  struct intern label_set_set;
  struct page_set *sets;
  size_t set_count, set_capacity;
  struct page_list traces, reports;
  // The frame that stands for stacks that are cut off.
  bool has_small_frame;
  uint32_t small_frame;
  uint32_t no_labels; // of stacks that lose their labels
  struct page_numbers numbers;
};

extern const char *const page_grain_names[GRAINS];

// Returns the number of a text of the page.
uint32_t page_text(struct page *page, const char *text);
// Return the number of an equal function, frame or node of the page, which they
// add if there is none.
uint32_t page_function_of(struct page *page, unsigned grain,
                          struct page_function f);
uint32_t page_frame_of(struct page *page, const struct page_frame *f);
uint32_t page_node_of(struct page *page, uint32_t parent, uint32_t frame);

#endif
