// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the section of the exit report about the heapx profile: totals, and
// the stacks with the most temporary blocks, copied bytes and slack in use.
// Slack is usable bytes beyond the requested sizes.

#include "write/report_heapx.h"

#include "heap/page_placement.h"
#include "options/flags.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_heap.h"
#include "sys/sort.h"
#include "write/report_text.h"

static void put_temporary(struct mprof_report *w,
                          const struct mprof_heapx_estimate *e) {
  mprof_report_things(w, e->temporary_objects, "block");
  mprof_report_put(w, ", ");
  mprof_report_bytes(w, e->temporary_bytes);
}

static void put_moves(struct mprof_report *w,
                      const struct mprof_heapx_estimate *e) {
  mprof_report_bytes(w, e->copied_bytes);
  mprof_report_put(w, " copied by ");
  mprof_report_things(w, e->moved, "move");
  mprof_report_put(w, ", ");
  mprof_report_things(w, e->in_place, "resize");
  mprof_report_put(w, " in place");
}

static void put_slack(struct mprof_report *w,
                      const struct mprof_heapx_estimate *e) {
  mprof_report_bytes(w, e->inuse_slack_bytes);
  mprof_report_put(w, " in use, ");
  mprof_report_bytes(w, e->alloc_slack_bytes);
  mprof_report_put(w, " in total");
}

static void put_totals(struct mprof_report *w,
                       const struct mprof_heapx_estimate *e, int64_t blocks) {
  mprof_report_put(w, "\nTemporary blocks, resizes and slack (heapx profile)\n"
                      "\nTemporary: ");
  put_temporary(w, e);
  mprof_report_put(w, "; ");
  mprof_report_percent(w, e->temporary_objects, blocks);
  mprof_report_put(w, " of all blocks\nResized:   ");
  put_moves(w, e);
  mprof_report_put(w, "\nSlack:     ");
  if (mprof_place.c || mprof_place.cxx)
    put_slack(w, e);
  else
    mprof_report_put(w, "unknown: the allocator has no malloc_usable_size");
  mprof_report_put(w, "\n");
}

// A list of stacks in the report. The list is sorted by the value `key`,
// largest first.
struct list {
  const char *title;
  int64_t (*key)(const struct mprof_heapx_estimate *);
  bool (*comes_before)(const void *, const void *);
  void (*put)(struct mprof_report *, const struct mprof_heapx_estimate *);
};

#define ORDER(name, field)                                                     \
  static int64_t name(const struct mprof_heapx_estimate *e) {                  \
    return e->field;                                                           \
  }                                                                            \
  static bool has_more_##name(const void *a, const void *b) {                  \
    const struct mprof_heapx_sum *x = a, *y = b;                               \
    return name(&x->sum) > name(&y->sum);                                      \
  }
ORDER(temporary, temporary_objects)
ORDER(copied, copied_bytes)
ORDER(slack, inuse_slack_bytes)

static void put_list(struct mprof_report *w, const struct mprof_heapx_groups *g,
                     const struct list *l) {
  mprof_sort((void **)g->sorted, g->len, l->comes_before);
  for (size_t i = 0; i < g->len && i < mprof_flags.report_top; i++) {
    const struct mprof_heapx_estimate *e = &g->sorted[i]->sum;
    if (l->key(e) <= 0)
      break;
    if (i == 0)
      mprof_report_put(w, l->title);
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)i + 1, ". ");
    l->put(w, e);
    mprof_report_put(w, "; ");
    mprof_report_percent(w, l->key(e), l->key(&g->total));
    mprof_report_put(w, "\n");
    mprof_report_stack(w, g->sorted[i]->bucket);
  }
}

void mprof_report_heapx(struct mprof_report *w,
                        const struct mprof_heapx_groups *g, int64_t blocks) {
  static const struct list lists[] = {
      {"\nStacks with the most temporary blocks\n", temporary,
       has_more_temporary, put_temporary},
      {"\nStacks with the most bytes copied\n", copied, has_more_copied,
       put_moves},
      {"\nStacks with the most slack in use (usable bytes beyond the requested "
       "size)\n",
       slack, has_more_slack, put_slack}};
  put_totals(w, &g->total, blocks);
  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
    put_list(w, g, &lists[i]);
}

void mprof_report_heapx_summary(struct mprof_report *w,
                                const struct mprof_heapx_groups *g) {
  const struct mprof_heapx_estimate *e = &g->total;
  mprof_report_put(w, "SUMMARY: MProf: heapx: ");
  mprof_report_plain(w, e->temporary_objects, " temporary blocks, ");
  mprof_report_plain(w, e->temporary_bytes, " bytes, ");
  mprof_report_plain(w, e->in_place, " resizes in place, ");
  mprof_report_plain(w, e->moved, " moves, ");
  mprof_report_plain(w, e->copied_bytes, " bytes copied, ");
  mprof_report_plain(w, e->inuse_slack_bytes, " bytes of slack in use, ");
  mprof_report_plain(w, e->alloc_slack_bytes, " ever\n");
}
