// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table that maps the 64-bit ids of a file to indices of dense arrays.

#ifndef MPROF_TOOLS_IDMAP_H
#define MPROF_TOOLS_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap_entry {
  uint64_t id;
  uint64_t value; // index + 1; 0: the entry is free
};

struct idmap {
  struct idmap_entry *entries;
  // capacity: number of entries, 0 or a power of two; count: entries in use
  size_t capacity, count;
  // Most files number from 0 or 1. Such ids need no hash: their values are
  // here.
  size_t *small;
  size_t small_capacity, small_count;
};

// Sets *index to the index of id and returns true. Returns false if id is not
// in the table.
bool idmap_find(const struct idmap *map, uint64_t id, size_t *index);
// Adds id with its index. The id must not be in the table.
void idmap_add(struct idmap *map, uint64_t id, size_t index);
// Returns the index of id, or `next` after adding id with this index.
size_t idmap_get(struct idmap *map, uint64_t id, size_t next);
// Removes all ids and frees the memory of the table.
void idmap_clear(struct idmap *map);

#endif
