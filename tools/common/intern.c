// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table uses open addressing with linear probing. At most half of the slots
// are used.

#include "common/intern.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// A random start makes it hard to write a file whose elements all fall into one
// slot.
static uint64_t hash_start(void) {
  static uint64_t start;
  if (start == 0 &&
      getrandom(&start, sizeof start, GRND_NONBLOCK) != sizeof start)
    start = (uint64_t)(uintptr_t)&start;
  start |= 1;
  return start;
}

uint32_t intern_hash(uint32_t hash, const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  uint64_t h = hash_start() ^ hash ^ length;
  for (; length >= 8; p += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15U;
    h ^= h >> 29;
  }
  uint64_t tail = 0;
  memcpy(&tail, p, length);
  h = (h ^ tail) * 0xbf58476d1ce4e5b9U;
  h ^= h >> 32;
  return (uint32_t)h;
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
