// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions (profile_kind.h) of the profile heapx, which shows temporary
// blocks, resizes and slack (usable bytes beyond the requested sizes). At the
// end of the process, this profile is written from the snapshot of the heap
// profile, which has the heapx counters.

#include "bucket/counts.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "snapshot/estimate_heap.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_heap.h"
#include "sys/message.h"
#include "write/kind_heap.h"
#include "write/numbers.h"
#include "write/profile_kind.h"
#include "write/report_heapx.h"
#include "write/report_text.h"
#include "write/write_pprof.h"
#include "write/write_text_heapx.h"

struct heapx_copy {
  // Used if the program requests this profile before the process ends.
  struct mprof_mem_snapshot own;
  // The address of `own`, or of the snapshot of the heap profile.
  const struct mprof_mem_snapshot *snapshot;
  struct mprof_heapx_groups stacks;
};

static bool is_offered(void) { return mprof_flags.heapx; }

static int group(void *copy) {
  struct heapx_copy *c = copy;
  return mprof_heapx_groups_make(&c->stacks, c->snapshot);
}

static int take(void *copy, const struct mprof_profile_row *row,
                const struct mprof_profile_taking *t) {
  struct heapx_copy *c = copy;
  (void)row;
  if (t->copies != NULL) {
    const struct mprof_heap_copy *heap = t->copies[MPROF_PROFILE_heap];
    c->snapshot = &heap->snapshot;
    return 0;
  }
  c->snapshot = &c->own;
  int error = mprof_mem_snapshot_take(&c->own, mprof_cycle_dump_ends_it(false));
  if (error == 0)
    error = mprof_estimate_objects(&c->own);
  return error == 0 && t->form == MPROF_FORM_TEXT ? group(c) : error;
}

static void release(void *copy) {
  struct heapx_copy *c = copy;
  mprof_heapx_groups_free(&c->stacks);
  mprof_mem_snapshot_free(&c->own);
}

static int write(struct mprof_outfile *f, const void *copy,
                 const struct mprof_profile_row *row,
                 enum mprof_profile_form form, size_t number) {
  const struct heapx_copy *c = copy;
  (void)row;
  (void)number;
  return form == MPROF_FORM_TEXT ? mprof_write_heapx_text(f, &c->stacks)
                                 : mprof_write_heapx_pprof(f, c->snapshot);
}

static bool is_shown(const void *copy, void *const *copies) {
  const struct mprof_heap_copy *heap = copies[MPROF_PROFILE_heap];
  (void)copy;
  return heap->snapshot.heapx != NULL ||
         (mprof_flags.heapx && mprof_flags.heap);
}

static bool has_stacks(const void *copy) {
  (void)copy; // has_stacks of the heap profile reports the same stacks
  return false;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct heapx_copy *c = copy;
  (void)part;
  mprof_put_things_and_stacks(t, (uint64_t)c->stacks.total.temporary_objects,
                              "temporary block", c->stacks.len);
}

static void report(struct mprof_report *w, const void *copy,
                   void *const *copies) {
  const struct mprof_heap_copy *heap = copies[MPROF_PROFILE_heap];
  const struct heapx_copy *c = copy;
  mprof_report_heapx(w, &c->stacks, heap->stacks.total.alloc_objects);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct heapx_copy *c = copy;
  mprof_report_heapx_summary(w, &c->stacks);
}

const struct mprof_profile_kind mprof_kind_heapx = {
    .copy_bytes = sizeof(struct heapx_copy),
    .last_form = MPROF_FORM_TEXT,
    .is_offered = is_offered,
    .take = take,
    .free = release,
    .write = write,
    .count = mprof_heap_count,
    .group = group,
    .is_shown = is_shown,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
    .sums_up_report = true,
    .report = report,
    .report_line = report_line,
};
