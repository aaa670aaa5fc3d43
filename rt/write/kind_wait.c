// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions (profile_kind.h) of the profiles block and mutex. The block
// profile shows where threads waited. The mutex profile shows where threads
// made others wait. The field `variant` of struct mprof_profile_row is the type
// of the profile's buckets.

#include "write/kind_wait.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_wait.h"
#include "sys/message.h"
#include "write/numbers.h"
#include "write/profile_kind.h"
#include "write/report_text.h"
#include "write/report_wait.h"
#include "write/write_pprof.h"
#include "write/write_text_wait.h"

struct wait_copy {
  struct mprof_wait_snapshot snapshot; // one sample for each stack and lock
  struct mprof_wait_groups stacks;     // groups of the samples by stack
};

_Static_assert(MPROF_BUCKET_BLOCK == 2 && MPROF_BUCKET_MUTEX == 3,
               "the enumerators must have the numbers that profiles.def gives "
               "as variants of block and mutex");

static int take(void *copy, const struct mprof_profile_row *row,
                const struct mprof_profile_taking *t) {
  struct wait_copy *c = copy;
  (void)t;
  return mprof_wait_snapshot_take(&c->snapshot,
                                  (enum mprof_bucket_type)row->variant, false);
}

static void release(void *copy) {
  struct wait_copy *c = copy;
  mprof_wait_groups_free(&c->stacks);
  mprof_wait_snapshot_free(&c->snapshot);
}

static int write(struct mprof_outfile *f, const void *copy,
                 const struct mprof_profile_row *row,
                 enum mprof_profile_form form, size_t number) {
  const struct wait_copy *c = copy;
  (void)row;
  (void)number;
  return form == MPROF_FORM_TEXT ? mprof_write_wait_text(f, &c->snapshot)
                                 : mprof_write_wait_pprof(f, &c->snapshot);
}

static int group(void *copy) {
  struct wait_copy *c = copy;
  return mprof_wait_groups_make(&c->stacks, &c->snapshot, false);
}

bool mprof_wait_copy_is_shown(const void *copy) {
  const struct wait_copy *c = copy;
  return c->snapshot.rate != 0 || c->snapshot.len > 0;
}

static bool has_data(const struct mprof_profile_row *row) {
  return mprof_bucket_first((enum mprof_bucket_type)row->variant) != NULL;
}

static bool is_shown(const void *copy, void *const *copies) {
  (void)copies;
  return mprof_wait_copy_is_shown(copy);
}

static bool has_stacks(const void *copy) {
  const struct wait_copy *c = copy;
  return c->snapshot.len > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct wait_copy *c = copy;
  (void)part;
  mprof_put_things_and_stacks(
      t, (uint64_t)c->stacks.count,
      c->snapshot.type == MPROF_BUCKET_BLOCK ? "wait" : "contention",
      c->stacks.len);
}

static void report(struct mprof_report *w, const void *copy,
                   void *const *copies) {
  const struct wait_copy *c = copy;
  (void)copies;
  mprof_report_wait(w, &c->snapshot, &c->stacks);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct wait_copy *c = copy;
  mprof_report_wait_summary(w, &c->snapshot, &c->stacks);
}

static int write_delta(struct mprof_outfile *f, const void *copy, void *before,
                       const struct mprof_profile_row *row,
                       bool keeps_present) {
  const struct wait_copy *c = copy, *b = before;
  struct mprof_wait_snapshot d;
  (void)row;
  (void)keeps_present;
  int error = mprof_wait_snapshot_subtract(&d, &c->snapshot, &b->snapshot);
  if (error == 0)
    error = mprof_write_wait_pprof(f, &d);
  mprof_wait_snapshot_free(&d);
  return error;
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)number;
  return mprof_bucket_count((enum mprof_bucket_type)row->variant);
}

const struct mprof_profile_kind mprof_kind_wait = {
    .copy_bytes = sizeof(struct wait_copy),
    .last_form = MPROF_FORM_TEXT,
    .take = take,
    .free = release,
    .write = write,
    .write_delta = write_delta,
    .count = count,
    .has_data = has_data,
    .group = group,
    .is_shown = is_shown,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
    .sums_up_report = true,
    .report = report,
    .report_line = report_line,
};
