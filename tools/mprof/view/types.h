// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes and objects of a heap profile by the type of the blocks.

#ifndef MPROF_TOOL_TYPES_H
#define MPROF_TOOL_TYPES_H

#include "view/view.h"

struct type_values {
  int64_t bytes, objects;
  double bytes_variance, objects_variance;
};

struct type_row {
  string_id name; // 0: the blocks whose type is unknown
  struct type_values values;
};

struct type_table {
  struct type_row *rows;
  size_t count, capacity;
  struct type_values total;
  int64_t unknown; // of the values of the view
  unsigned bytes_type, objects_type;
  bool is_by_objects; // the view's values are objects
};

// Fills the table with one row for each type, sorted by the values of the view,
// then by name. Returns whether the view has bytes or objects of blocks; else
// the table is empty. has_full_names: types keep their default arguments.
bool types_of(const struct view *v, bool has_full_names, struct type_table *t);
void types_free(struct type_table *t);

#endif
