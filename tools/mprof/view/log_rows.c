// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/log_rows.h"

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

// --- live blocks ---

static int compare_live(const void *a, const void *b) {
  const struct live_row *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static void add_live(struct live_row *row, const struct log_record *block) {
  if (row->blocks++ == 0 || block->time < row->oldest) {
    row->oldest = block->time;
    row->oldest_address = block->address;
  }
  log_add_bytes(&row->bytes, block->size);
}

struct live_rows live_rows_of(const struct alloc_log *log,
                              const struct log_pairs *pairs, size_t limit) {
  struct live_rows result = {0};
  size_t capacity = 0;
  // For each stack the index of its row + 1, or 0.
  size_t *row_of = zeroed(log->stack_count, sizeof *row_of);
  for (size_t i = 0; i < pairs->live_count; i++) {
    const struct log_record *block = &log->records[pairs->live[i]];
    size_t *row = &row_of[block->stack];
    if (!*row) {
      *APPEND(result.rows, result.count, capacity) =
          (struct live_row){.stack = block->stack, .order = i};
      *row = result.count;
    }
    add_live(&result.rows[*row - 1], block);
  }
  free(row_of);
  if (result.count)
    qsort(result.rows, result.count, sizeof *result.rows, compare_live);
  if (result.count > limit)
    result.count = limit;
  return result;
}

// --- lifetimes ---

static int compare_lifetimes(const void *a, const void *b) {
  const struct lifetime_row *x = a, *y = b;
  if (x->pairs != y->pairs)
    return x->pairs > y->pairs ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static int compare_times(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Finds the times of the row, which has times[0] to times[pairs - 1].
static void summarize(struct lifetime_row *row, double *times) {
  const size_t n = row->pairs;
  qsort(times, n, sizeof *times, compare_times);
  row->shortest = times[0];
  row->longest = times[n - 1];
  row->median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

static uint32_t stack_of(const struct alloc_log *log,
                         const struct log_pair *pair) {
  return log->records[pair->alloc].stack;
}

// Finds the times of all rows.
static void find_times(const struct alloc_log *log,
                       const struct log_pairs *pairs,
                       struct lifetime_rows *result) {
  // For each stack the times that are still missing, or NULL.
  double **rest = (double **)zeroed(log->stack_count, sizeof *rest);
  size_t sum = 0;
  for (size_t i = 0; i < result->count; i++)
    sum += result->rows[i].pairs;
  double *times = zeroed(sum, sizeof *times), *next = times;
  for (size_t i = 0; i < result->count; i++) {
    rest[result->rows[i].stack] = next;
    next += result->rows[i].pairs;
  }
  for (size_t i = 0; i < pairs->pair_count; i++) {
    const struct log_pair *p = &pairs->pairs[i];
    double **time = &rest[stack_of(log, p)];
    if (*time)
      *(*time)++ = log->records[p->free].time - log->records[p->alloc].time;
  }
  next = times;
  for (size_t i = 0; i < result->count; i++) {
    summarize(&result->rows[i], next);
    next += result->rows[i].pairs;
  }
  free(times);
  free((void *)rest);
}

struct lifetime_rows lifetime_rows_of(const struct alloc_log *log,
                                      const struct log_pairs *pairs,
                                      size_t limit) {
  struct lifetime_rows result = {0};
  size_t capacity = 0;
  size_t *row_of = zeroed(log->stack_count, sizeof *row_of);
  for (size_t i = 0; i < pairs->pair_count; i++) {
    const uint32_t stack = stack_of(log, &pairs->pairs[i]);
    size_t *row = &row_of[stack];
    if (!*row) {
      *APPEND(result.rows, result.count, capacity) =
          (struct lifetime_row){.stack = stack, .order = i};
      *row = result.count;
    }
    result.rows[*row - 1].pairs++;
  }
  free(row_of);
  if (result.count)
    qsort(result.rows, result.count, sizeof *result.rows, compare_lifetimes);
  if (result.count > limit)
    result.count = limit;
  find_times(log, pairs, &result);
  return result;
}
