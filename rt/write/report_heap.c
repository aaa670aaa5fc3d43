// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the section of the exit report about the heap: totals, the stacks with
// the most bytes in use, and the stacks with the most bytes allocated.

#include "write/report_heap.h"

#include "bucket/counts.h"
#include "options/flags.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_heap.h"
#include "sys/sort.h"
#include "write/report_text.h"

// Writes a number of bytes and a number of blocks, such as "100 bytes in 2
// blocks".
static void put_blocks(struct mprof_report *w, int64_t bytes, int64_t blocks) {
  mprof_report_bytes(w, bytes);
  mprof_report_put(w, " in ");
  mprof_report_count(w, blocks, blocks == 1 ? " block" : " blocks");
}

// Returns whether the rate changed between samples of the snapshot.
static bool has_other_rates(const struct mprof_mem_snapshot *s) {
  for (size_t i = 0; i < s->len; i++)
    if (s->samples[i].allocs != 0 && s->samples[i].bucket->rate != s->rate)
      return true;
  return false;
}

static void put_rate(struct mprof_report *w,
                     const struct mprof_mem_snapshot *s) {
  mprof_report_put(w, "Rate:      ");
  if (has_other_rates(s)) {
    mprof_report_count(
        w, (int64_t)s->rate,
        " now; some samples were taken at another rate, so figures with a "
        "standard error are estimates\n");
  } else if (s->rate == 0) {
    mprof_report_put(w, "0: no block is sampled\n");
  } else if (s->rate == 1) {
    mprof_report_put(w, "1, every block is counted\n");
  } else {
    mprof_report_put(w, "one sample every ");
    mprof_report_count(w, (int64_t)s->rate,
                       " bytes on average; the figures are estimates\n");
  }
}

static void put_totals(struct mprof_report *w,
                       const struct mprof_mem_snapshot *s,
                       const struct mprof_heap_groups *g) {
  mprof_report_put(w, "\nIn use:    ");
  put_blocks(w, g->total.inuse_bytes, g->total.inuse_objects);
  mprof_report_error(w, g->variance.inuse_bytes);
  mprof_report_put(w, "\nAllocated: ");
  put_blocks(w, g->total.alloc_bytes, g->total.alloc_objects);
  mprof_report_error(w, g->variance.alloc_bytes);
  mprof_report_put(w, "\nSamples:   ");
  mprof_report_count(w, (int64_t)g->samples, " allocated, ");
  mprof_report_count(w, (int64_t)g->sample_frees, " freed, ");
  mprof_report_things(w, (int64_t)g->len, "stack");
  mprof_report_put(w, "\n");
  if (mprof_cycle_is_missing())
    mprof_report_put(
        w, "Cycles:    strict_cycles=1, but the program never called "
           "mprof_next_cycle, so events after the first profile are missing\n");
  else if (mprof_cycle_as_of() == MPROF_CYCLE_COLLECTOR)
    mprof_report_put(w, "Cycles:    the figures are as of the last garbage "
                        "collection\n");
  else if (mprof_cycle_as_of() == MPROF_CYCLE_PROGRAM)
    mprof_report_put(w, "Cycles:    strict_cycles=1: the figures are as of the "
                        "last mprof_next_cycle\n");
  const char *why = mprof_heap_groups_why_none(g, s->rate);
  if (why != NULL) {
    mprof_report_put(w, "Nothing was sampled: ");
    mprof_report_put(w, why);
    mprof_report_put(w, "\n");
  }
}

static bool has_more_in_use(const void *a, const void *b) {
  const struct mprof_heap_sum *x = a, *y = b;
  return x->sum.inuse_bytes > y->sum.inuse_bytes;
}

static bool has_more_allocated(const void *a, const void *b) {
  const struct mprof_heap_sum *x = a, *y = b;
  return x->sum.alloc_bytes > y->sum.alloc_bytes;
}

// Writes how many stacks the list of the report omits: the stacks of g from
// index `from` on, without stacks that have 0 bytes.
// in_use: true: counts the bytes in use; false: counts the allocated bytes.
static void put_others(struct mprof_report *w,
                       const struct mprof_heap_groups *g, bool in_use,
                       size_t from) {
  int64_t others = 0;
  for (size_t i = from; i < g->len; i++)
    others += (in_use ? g->sorted[i]->sum.inuse_bytes
                      : g->sorted[i]->sum.alloc_bytes) > 0;
  if (others == 0)
    return;
  mprof_report_put(w, "\nand ");
  mprof_report_things(w, others, "stack");
  mprof_report_put(w, " more (raise report_top to see them)\n");
}

static void put_top(struct mprof_report *w, const struct mprof_mem_snapshot *s,
                    const struct mprof_heap_groups *g, bool in_use) {
  mprof_sort((void **)g->sorted, g->len,
             in_use ? has_more_in_use : has_more_allocated);
  size_t top =
      mprof_flags.report_top < g->len ? mprof_flags.report_top : g->len;
  if (top == 0)
    return;
  if ((in_use ? g->sorted[0]->sum.inuse_bytes
              : g->sorted[0]->sum.alloc_bytes) <= 0)
    return;
  mprof_report_put(w, in_use ? "\nStacks with the most bytes in use\n"
                             : "\nStacks with the most bytes allocated\n");
  for (size_t i = 0; i < top; i++) {
    const struct mprof_mem_estimate *e = &g->sorted[i]->sum;
    int64_t bytes = in_use ? e->inuse_bytes : e->alloc_bytes;
    if (bytes <= 0)
      break;
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)i + 1, ". ");
    put_blocks(w, bytes, in_use ? e->inuse_objects : e->alloc_objects);
    mprof_report_put(w, ", ");
    mprof_report_percent(w, bytes,
                         in_use ? g->total.inuse_bytes : g->total.alloc_bytes);
    // The number of samples and the error show how reliable the estimate is.
    const struct mprof_heap_sum *of = g->sorted[i];
    const mprof_u128 variance =
        in_use ? of->variance.inuse_bytes : of->variance.alloc_bytes;
    if (s->rate > 1 || variance > 0) {
      mprof_report_put(w, ", ");
      mprof_report_things(
          w, (int64_t)(in_use ? of->inuse_samples : of->alloc_samples),
          "sample");
      mprof_report_error(w, variance);
    }
    mprof_report_put(w, "\n");
    mprof_report_labels(w, &g->sorted[i]->labels);
    mprof_report_stack(w, g->sorted[i]->bucket);
  }
  put_others(w, g, in_use, top);
}

void mprof_report_heap(struct mprof_report *w,
                       const struct mprof_mem_snapshot *s,
                       const struct mprof_heap_groups *g) {
  put_rate(w, s);
  put_totals(w, s, g);
  put_top(w, s, g, true);
  put_top(w, s, g, false);
}

void mprof_report_heap_summary(struct mprof_report *w,
                               const struct mprof_mem_snapshot *s,
                               const struct mprof_heap_groups *g) {
  const struct mprof_mem_estimate *e = &g->total;
  mprof_report_put(w, "SUMMARY: MProf: ");
  mprof_report_plain(w, e->inuse_bytes, " bytes in ");
  mprof_report_plain(w, e->inuse_objects, " blocks in use, ");
  mprof_report_plain(w, e->alloc_bytes, " bytes in ");
  mprof_report_plain(w, e->alloc_objects, " blocks allocated, ");
  mprof_report_plain(w, (int64_t)g->len, " stacks, ");
  mprof_report_plain(w, (int64_t)g->samples, " samples at rate ");
  mprof_report_plain(w, (int64_t)s->rate,
                     has_other_rates(s) ? " and at other rates\n" : "\n");
}
