// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/log_rows.h"

#include "common/memory.h"

#include <stdlib.h>

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
