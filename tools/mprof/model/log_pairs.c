// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/log_pairs.h"

#include "common/memory.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

// The last block at an address. Without an allocation, no block is known.
// Without a free, the block is live.
struct slot {
  uint32_t alloc, free;
  uint32_t order; // the record that made the address live
};

struct pairing {
  const struct alloc_log *log;
  struct log_pairs pairs;
  size_t pair_capacity, freed_twice_capacity;
  struct slot *slots;
  size_t slot_count, slot_capacity;
  struct idmap slot_of[LOG_OWNERS]; // by address
};

void log_add_bytes(uint64_t *sum, uint64_t bytes) {
  if (__builtin_add_overflow(*sum, bytes, sum))
    *sum = UINT64_MAX;
}

static struct slot *find_slot(struct pairing *p, const struct log_record *r) {
  struct idmap *map = &p->slot_of[r->owner];
  size_t index;
  if (idmap_find(map, r->address, &index))
    return &p->slots[index];
  idmap_add(map, r->address, p->slot_count);
  struct slot *s = APPEND(p->slots, p->slot_count, p->slot_capacity);
  *s = (struct slot){NONE, NONE, NONE};
  return s;
}

static bool is_live(const struct slot *s) {
  return s->alloc != NONE && s->free == NONE;
}

static void allocate(struct pairing *p, const struct log_record *r,
                     uint32_t index) {
  struct slot *s = find_slot(p, r);
  log_add_bytes(&p->pairs.bytes, r->size);
  if (is_live(s))
    p->pairs.lost_frees++;
  else
    s->order = index;
  s->alloc = index;
  s->free = NONE;
}

static void release(struct pairing *p, const struct log_record *r,
                    uint32_t index) {
  struct slot *s = find_slot(p, r);
  struct log_pairs *pairs = &p->pairs;
  // MProf counts no block between its free and the next allocation at its
  // address. So if a second free has a size, the log lacks this allocation.
  if (s->alloc == NONE || (s->free != NONE && r->has_size)) {
    pairs->lost_allocs++;
    s->alloc = NONE;
  } else if (s->free != NONE) {
    *APPEND(pairs->freed_twice, pairs->freed_twice_count,
            p->freed_twice_capacity) =
        (struct log_double_free){s->alloc, s->free, index};
  } else if (!r->has_size || r->size != p->log->records[s->alloc].size) {
    // The free belongs to a later block at the same address. The log lacks the
    // free of the first block and the allocation of the later block.
    pairs->lost_frees++;
    s->alloc = NONE;
  } else {
    s->free = index;
    *APPEND(pairs->pairs, pairs->pair_count, p->pair_capacity) =
        (struct log_pair){s->alloc, index};
  }
}

static int compare_slots(const void *a, const void *b) {
  const struct slot *x = a, *y = b;
  return (x->order > y->order) - (x->order < y->order);
}

static void find_live(struct pairing *p) {
  size_t count = 0;
  for (size_t i = 0; i < p->slot_count; i++)
    if (is_live(&p->slots[i]))
      p->slots[count++] = p->slots[i];
  if (count)
    qsort(p->slots, count, sizeof *p->slots, compare_slots);
  p->pairs.live = zeroed(count, sizeof *p->pairs.live);
  p->pairs.live_count = count;
  for (size_t i = 0; i < count; i++)
    p->pairs.live[i] = p->slots[i].alloc;
}

struct log_pairs log_pairs_of(const struct alloc_log *log) {
  struct pairing p = {.log = log};
  for (size_t i = 0; i < log->record_count; i++) {
    const struct log_record *r = &log->records[i];
    if (r->kind == LOG_ALLOC) {
      p.pairs.allocs++;
      allocate(&p, r, (uint32_t)i);
    } else if (r->kind == LOG_FREE) {
      p.pairs.frees++;
      release(&p, r, (uint32_t)i);
    } else {
      p.pairs.collections++;
    }
    p.pairs.end = r->time;
  }
  find_live(&p);
  for (unsigned i = 0; i < LOG_OWNERS; i++)
    idmap_clear(&p.slot_of[i]);
  free(p.slots);
  return p.pairs;
}

void log_pairs_free(struct log_pairs *pairs) {
  free(pairs->live);
  free(pairs->pairs);
  free(pairs->freed_twice);
  *pairs = (struct log_pairs){0};
}
