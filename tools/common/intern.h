// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table that finds the index of an equal element of an array. The table
// stores only indices and hashes; its user compares the elements.

#ifndef MPROF_TOOLS_INTERN_H
#define MPROF_TOOLS_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
  struct intern_slot {
    uint32_t hash, index; // index + 1; 0: the slot is free
  } *slots;
  size_t capacity, count; // capacity: 0 or a power of two
};

// Returns the index of the element for which is_equal returns true. If there is
// none, stores next and returns next.
uint32_t intern_find(struct intern *set, uint32_t hash, uint32_t next,
                     bool (*is_equal)(const void *arg, uint32_t index),
                     const void *arg);
void intern_free(struct intern *set);

// Returns the hash of `length` bytes that follow data with the hash `hash`.
// Begin with hash 0.
uint32_t intern_hash(uint32_t hash, const void *bytes, size_t length);

#endif
