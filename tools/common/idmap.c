// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hash table of large ids uses open addressing with linear probing. At most
// half of the entries are used.

#include "common/idmap.h"

#include "common/memory.h"
#include "common/siphash.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const struct idmap *map, uint64_t id) {
  size_t slot = siphash(id, NULL, 0) & (map->capacity - 1);
  while (map->entries[slot].value && map->entries[slot].id != id)
    slot = (slot + 1) & (map->capacity - 1);
  return slot;
}

// Returns whether the id belongs into the array of small ids, which it extends
// if needed. At least an eighth of a long array is used.
static bool is_small(struct idmap *map, uint64_t id) {
  if (id >= 64 + map->small_count * 4)
    return false;
  if (id >= map->small_capacity) {
    const size_t capacity = 2 * (size_t)id + 64;
    size_t *small = zeroed(capacity, sizeof *small);
    if (map->small_capacity)
      memcpy(small, map->small, map->small_capacity * sizeof *small);
    free(map->small);
    map->small = small;
    map->small_capacity = capacity;
  }
  return true;
}

bool idmap_find(const struct idmap *map, uint64_t id, size_t *index) {
  if (id < map->small_capacity && map->small[id]) {
    *index = map->small[id] - 1;
    return true;
  }
  if (!map->capacity)
    return false;
  const struct idmap_entry *entry = &map->entries[slot_of(map, id)];
  if (!entry->value)
    return false;
  *index = entry->value - 1;
  return true;
}

void idmap_add(struct idmap *map, uint64_t id, size_t index) {
  if (is_small(map, id)) {
    map->small[id] = index + 1;
    map->small_count++;
    return;
  }
  if (map->count * 2 >= map->capacity) {
    struct idmap old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->entries = zeroed(map->capacity, sizeof *map->entries);
    for (size_t i = 0; i < old.capacity; i++)
      if (old.entries[i].value)
        map->entries[slot_of(map, old.entries[i].id)] = old.entries[i];
    free(old.entries);
  }
  map->entries[slot_of(map, id)] = (struct idmap_entry){id, index + 1};
  map->count++;
}

size_t idmap_get(struct idmap *map, uint64_t id, size_t next) {
  size_t index = next;
  if (!idmap_find(map, id, &index))
    idmap_add(map, id, next);
  return index;
}

void idmap_clear(struct idmap *map) {
  free(map->entries);
  free(map->small);
  *map = (struct idmap){0};
}
