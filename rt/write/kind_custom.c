// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions (profile_kind.h) of the profiles that the program defines. At
// the end of the process, each of these profiles gets a separate file and a
// separate section of the report.

#include "bucket/bucket.h"
#include "bucket/custom_profile.h"
#include "file/outfile.h"
#include "snapshot/snapshot_custom.h"
#include "sys/message.h"
#include "write/numbers.h"
#include "write/profile_kind.h"
#include "write/report_custom.h"
#include "write/report_text.h"
#include "write/write_custom.h"

struct custom_copy {
  struct mprof_custom_snapshot v[MPROF_CUSTOM_PROFILES];
  size_t len;
};

static int take(void *copy, const struct mprof_profile_row *row,
                const struct mprof_profile_taking *t) {
  struct custom_copy *c = copy;
  (void)row;
  if (t->copies == NULL) {
    c->len = 1;
    return mprof_custom_snapshot_take(&c->v[0], t->number);
  }
  const size_t n = mprof_custom_profiles();
  int error = 0;
  for (; c->len < n && error == 0; c->len++)
    error = mprof_custom_snapshot_take(&c->v[c->len], c->len);
  return error;
}

static void release(void *copy) {
  struct custom_copy *c = copy;
  for (size_t i = 0; i < c->len; i++)
    mprof_custom_snapshot_free(&c->v[i]);
}

static int write(struct mprof_outfile *f, const void *copy,
                 const struct mprof_profile_row *row,
                 enum mprof_profile_form form, size_t number) {
  const struct custom_copy *c = copy;
  (void)row;
  return form == MPROF_FORM_TEXT ? mprof_write_custom_text(f, &c->v[number])
                                 : mprof_write_custom_pprof(f, &c->v[number]);
}

// Returns whether a value was ever added, even if it was removed again.
static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_bucket_first(MPROF_BUCKET_CUSTOM) != NULL;
}

static bool has_stacks(const void *copy) {
  const struct custom_copy *c = copy;
  for (size_t i = 0; i < c->len; i++)
    if (c->v[i].len > 0)
      return true;
  return false;
}

static size_t parts(const void *copy) {
  const struct custom_copy *c = copy;
  return c->len;
}

static const char *part_name(const void *copy, size_t part) {
  const struct custom_copy *c = copy;
  return c->v[part].name;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct custom_copy *c = copy;
  mprof_put_things_and_stacks(t, c->v[part].values, "value", c->v[part].len);
}

static void report(struct mprof_report *w, const void *copy,
                   void *const *copies) {
  const struct custom_copy *c = copy;
  (void)copies;
  for (size_t i = 0; i < c->len; i++)
    mprof_report_custom(w, &c->v[i]);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct custom_copy *c = copy;
  for (size_t i = 0; i < c->len; i++)
    mprof_report_custom_summary(w, &c->v[i]);
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  return mprof_custom_profile_values(number);
}

const struct mprof_profile_kind mprof_kind_custom = {
    .copy_bytes = sizeof(struct custom_copy),
    .last_form = MPROF_FORM_TEXT,
    .take = take,
    .free = release,
    .write = write,
    .count = count,
    .has_data = has_data,
    .has_stacks = has_stacks,
    .parts = parts,
    .part_name = part_name,
    .put_numbers = put_numbers,
    .report = report,
    .report_line = report_line,
};
