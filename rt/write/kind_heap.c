// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions (profile_kind.h) of the profiles heap and allocs, which show
// live and allocated blocks.

#include "write/kind_heap.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "snapshot/estimate_heap.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_heap.h"
#include "sys/message.h"
#include "write/kind_wait.h"
#include "write/numbers.h"
#include "write/profile_kind.h"
#include "write/report_heap.h"
#include "write/report_text.h"
#include "write/write_pprof.h"
#include "write/write_text.h"

static int take(void *copy, const struct mprof_profile_row *row,
                const struct mprof_profile_taking *t) {
  struct mprof_heap_copy *c = copy;
  (void)row;
  int error = mprof_mem_snapshot_take(
      &c->snapshot, mprof_cycle_dump_ends_it(t->copies != NULL));
  return error != 0 ? error : mprof_estimate_objects(&c->snapshot);
}

static void release(void *copy) {
  struct mprof_heap_copy *c = copy;
  mprof_heap_groups_free(&c->stacks);
  mprof_mem_snapshot_free(&c->snapshot);
}

// Writes the profile heap (variant 0) or allocs (variant 1). The two profiles
// have the same data, but readers of allocs show the allocated bytes first.
static int write(struct mprof_outfile *f, const void *copy,
                 const struct mprof_profile_row *row,
                 enum mprof_profile_form form, size_t number) {
  const struct mprof_heap_copy *c = copy;
  (void)number;
  return form == MPROF_FORM_TEXT
             ? mprof_write_heap_text(f, &c->snapshot)
             : mprof_write_heap_pprof(f, &c->snapshot, row->variant == 1);
}

static int group(void *copy) {
  struct mprof_heap_copy *c = copy;
  return mprof_heap_groups_make(&c->stacks, &c->snapshot);
}

// Returns whether a block was counted. Every counted block has a bucket.
static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_bucket_first(MPROF_BUCKET_MEM) != NULL;
}

// Returns whether the heap profile is shown. It is shown even without samples,
// so that the output gives the reason. It is hidden only if it has no samples,
// heap profiling is off, and the block or the mutex profile is shown.
static bool is_shown(const void *copy, void *const *copies) {
  const struct mprof_heap_copy *c = copy;
  return (mprof_flags.heap && c->snapshot.rate != 0) || c->stacks.samples > 0 ||
         (!mprof_wait_copy_is_shown(copies[MPROF_PROFILE_block]) &&
          !mprof_wait_copy_is_shown(copies[MPROF_PROFILE_mutex]));
}

static bool has_stacks(const void *copy) {
  const struct mprof_heap_copy *c = copy;
  return c->snapshot.len > 0;
}

// Appends the numbers of samples and stacks. If there are no samples, appends
// the reason.
static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct mprof_heap_copy *c = copy;
  const char *why = mprof_heap_groups_why_none(&c->stacks, c->snapshot.rate);
  (void)part;
  if (why == NULL) {
    mprof_put_things_and_stacks(t, c->stacks.samples, "sample", c->stacks.len);
    return;
  }
  mprof_put_things(t, c->stacks.samples, "sample");
  mprof_text_str(t, ": ");
  mprof_text_str(t, why);
}

static void report(struct mprof_report *w, const void *copy,
                   void *const *copies) {
  const struct mprof_heap_copy *c = copy;
  (void)copies;
  mprof_report_heap(w, &c->snapshot, &c->stacks);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct mprof_heap_copy *c = copy;
  mprof_report_heap_summary(w, &c->snapshot, &c->stacks);
}

static int write_delta(struct mprof_outfile *f, const void *copy, void *before,
                       const struct mprof_profile_row *row,
                       bool keeps_present) {
  const struct mprof_heap_copy *c = copy, *b = before;
  struct mprof_mem_snapshot s = c->snapshot;
  s.before = &b->snapshot;
  s.keeps_inuse = keeps_present;
  return mprof_write_heap_pprof(f, &s, row->variant == 1);
}

uint64_t mprof_heap_count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_bucket_count(MPROF_BUCKET_MEM);
}

const struct mprof_profile_kind mprof_kind_heap = {
    .copy_bytes = sizeof(struct mprof_heap_copy),
    .last_form = MPROF_FORM_TEXT,
    .take = take,
    .free = release,
    .write = write,
    .write_delta = write_delta,
    .count = mprof_heap_count,
    .has_data = has_data,
    .group = group,
    .is_shown = is_shown,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
    .sums_up_report = true,
    .report = report,
    .report_line = report_line,
};
