// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table that maps the 64-bit ids of a trace to indices of dense arrays.

#ifndef MPROF_TRACE_IDMAP_H
#define MPROF_TRACE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap_entry {
  uint64_t id;
  uint64_t value; // 0: the entry is free, else index + 1
};

struct idmap {
  struct idmap_entry *entries;
  size_t capacity, count; // capacity: 0 or a power of two
};

// Sets *index to the index of id. Returns false if id is not in the table.
bool idmap_find(const struct idmap *map, uint64_t id, size_t *index);
// Adds an id that is not in the table.
void idmap_add(struct idmap *map, uint64_t id, size_t index);
// Removes all ids and frees the memory.
void idmap_clear(struct idmap *map);

#endif
