// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table uses open addressing with linear probing. At most half of the slots
// are used.

#include "common/intern.h"

#include "common/memory.h"
#include "common/siphash.h"

#include <stdlib.h>

uint32_t intern_hash(uint32_t hash, const void *bytes, size_t length) {
  return (uint32_t)siphash(hash, bytes, length);
}

static void resize(struct intern *set) {
  struct intern old = *set;
  set->capacity = old.capacity ? old.capacity * 2 : 64;
  set->slots = zeroed(set->capacity, sizeof *set->slots);
  for (size_t i = 0; i < old.capacity; i++) {
    if (!old.slots[i].index)
      continue;
    size_t slot = old.slots[i].hash & (set->capacity - 1);
    while (set->slots[slot].index)
      slot = (slot + 1) & (set->capacity - 1);
    set->slots[slot] = old.slots[i];
  }
  free(old.slots);
}

uint32_t intern_find(struct intern *set, uint32_t hash, uint32_t next,
                     bool (*is_equal)(const void *arg, uint32_t index),
                     const void *arg) {
  if (set->count * 2 >= set->capacity)
    resize(set);
  size_t slot = hash & (set->capacity - 1);
  for (; set->slots[slot].index; slot = (slot + 1) & (set->capacity - 1))
    if (set->slots[slot].hash == hash &&
        is_equal(arg, set->slots[slot].index - 1))
      return set->slots[slot].index - 1;
  set->slots[slot] = (struct intern_slot){hash, next + 1};
  set->count++;
  return next;
}

void intern_free(struct intern *set) {
  free(set->slots);
  *set = (struct intern){0};
}
