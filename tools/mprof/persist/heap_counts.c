// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the counts of a MEM bucket in the file of the option persist; see
// heap_counts.h.

#include "persist/heap_counts.h"

#include "bucket/counts.h"
#include "bucket/peak.h"

#include <string.h>

static uint64_t load(const _Atomic uint64_t *n) {
  return atomic_load_explicit(n, memory_order_relaxed);
}

static void add_heapx(struct persist_heap_counts *c,
                      const struct mprof_heapx_cycle cycles[3]) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < MPROF_HEAPX_COUNTERS; i++)
      c->heapx[i] += load(&cycles[k].n[i]);
}

// Adds the counts of a cell.
static void add_cell(struct persist_file *f, uint64_t address,
                     struct persist_heap_counts *c) {
  struct mprof_cell cell;
  struct mprof_heapx_cell x;
  if (!persist_copy(f, address, &cell, sizeof cell))
    return;
  for (int k = 0; k < 3; k++) {
    c->allocs += load(&cell.cycles[k].allocs);
    c->frees += load(&cell.cycles[k].frees);
  }
  if (f->head.has_heapx && persist_copy(f, address + sizeof cell, &x, sizeof x))
    add_heapx(c, x.cycles);
}

// Adds the counts of all cells of a bucket.
static void add_cells(struct persist_file *f, const struct mprof_bucket *b,
                      struct persist_heap_counts *c) {
  uint32_t next = atomic_load_explicit(&b->cells, memory_order_relaxed);
  for (size_t left = persist_longest_list(f); next && left > 0; left--) {
    struct mprof_cell_line line;
    if (!persist_copy(f, persist_object(f, next), &line, sizeof line))
      return;
    for (unsigned i = 0; i < MPROF_CELLS_A_LINE; i++) {
      const uint32_t handle =
          atomic_load_explicit(&line.cells[i], memory_order_relaxed);
      if (handle)
        add_cell(f, persist_object(f, handle), c);
    }
    next = atomic_load_explicit(&line.next, memory_order_relaxed);
  }
}

// Returns the number of words that the bucket has after its stack; see
// mprof_bucket_words_after.
static size_t words_after(struct persist_file *f, uint64_t address,
                          const struct mprof_bucket *b) {
  uint16_t words = 0;
  if (!mprof_bucket_has_slots(b))
    return 0;
  const size_t before = b->stack_len + b->tells - 1u;
  persist_copy(f, address + sizeof *b + before * sizeof(mprof_pc), &words,
               sizeof words);
  return words;
}

struct persist_heap_counts persist_heap_counts(struct persist_file *f,
                                               uint64_t address,
                                               const struct mprof_bucket *b) {
  struct persist_heap_counts c = {0};
  for (int k = 0; k < 3; k++) {
    c.allocs +=
        load(&b->mem.own.cycles[k].allocs) + load(&b->mem.future[k].allocs);
    c.frees +=
        load(&b->mem.own.cycles[k].frees) + load(&b->mem.future[k].frees);
  }
  add_cells(f, b, &c);
  struct mprof_heapx_counts x;
  const size_t words = b->stack_len + words_after(f, address, b);
  if (f->head.has_heapx &&
      persist_copy(f, address + mprof_heapx_offset(words), &x, sizeof x)) {
    add_heapx(&c, x.own);
    add_heapx(&c, x.future);
  }
  return c;
}

struct persist_heap_counts persist_peak_counts(struct persist_file *f,
                                               uint64_t address) {
  struct mprof_peak_counts x;
  if (!persist_copy(f, address - sizeof x, &x, sizeof x))
    return (struct persist_heap_counts){0};
  const struct mprof_peak_pair *n =
      x.peak == f->head.peak_number ? &x.at_peak : &x.now;
  return (struct persist_heap_counts){.allocs = n->allocs, .frees = n->frees};
}
