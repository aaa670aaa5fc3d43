// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profiles that the program defines (custom_profile.h). A sample has the
// stack of the calls that added some values to the profile, and the number of
// these values that were not removed. At the end of the process, each of these
// profiles gets a separate file and a separate section of the report.
// (Go: printCountProfile)

#include "bucket/bucket.h"
#include "bucket/custom_profile.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "symbolize/wrappers.h"
#include "sys/message.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

// --- files ---

static void put_sample(struct mprof_pprof *w, const void *snapshot, size_t i,
                       const uint64_t *keys) {
  (void)keys;
  const struct mprof_custom_sample *x =
      ((const struct mprof_custom_snapshot *)snapshot)->sorted[i];
  const int64_t count = (int64_t)x->count;
  mprof_pprof_sample(w, x->bucket, &count, NULL, 0);
}

static int write_pprof(struct mprof_outfile *f,
                       const struct mprof_custom_snapshot *s) {
  const struct mprof_pprof_head head = {.types = {{s->name, "count"}},
                                        .types_len = 1,
                                        .period_type = {s->name, "count"},
                                        .period = 1,
                                        .time_ns = s->time_ns,
                                        .empty_stack = MPROF_LOST_EVENT};
  return mprof_pprof_write(
      f, &head, &(struct mprof_pprof_samples){s, s->len, {NULL}, put_sample});
}

static void put_all(struct mprof_legacy *w, const void *snapshot) {
  const struct mprof_custom_snapshot *s = snapshot;
  w->empty_stack = MPROF_LOST_EVENT;
  mprof_legacy_total(w, s->name, s->values);
  for (size_t i = 0; i < s->len && w->out->error == 0; i++)
    mprof_legacy_count(w, s->sorted[i]->count, s->sorted[i]->bucket);
  mprof_legacy_stats(w);
}

static int write_text(struct mprof_outfile *f,
                      const struct mprof_custom_snapshot *s) {
  return mprof_legacy_write(f, s->len > 0, put_all, s);
}

// --- report ---

static void put_entry(struct mprof_report *w,
                      const struct mprof_custom_sample *s) {
  mprof_report_things(w, (int64_t)s->count, "value");
  mprof_report_put(w, "\n");
  mprof_report_stack(w, s->bucket);
  if (w->number == 0)
    mprof_report_put(w, "    " MPROF_LOST_EVENT
                        " no frame is left, because the skip count of "
                        "mprof_profile_add is too large\n");
}

static void put_section(struct mprof_report *w,
                        const struct mprof_custom_snapshot *s) {
  mprof_report_put(w, "\nProfile ");
  mprof_report_put(w, s->name);
  mprof_report_put(w, ": values added and not removed\n\nTotal:     ");
  mprof_report_things(w, (int64_t)s->values, "value");
  mprof_report_put(w, ", ");
  mprof_report_things(w, (int64_t)s->len, "stack");
  mprof_report_put(w, "\n");
  for (size_t i = 0; i < s->len && i < mprof_flags.report_top; i++) {
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)i + 1, ". ");
    put_entry(w, s->sorted[i]);
  }
}

static void put_summary(struct mprof_report *w,
                        const struct mprof_custom_snapshot *s) {
  mprof_report_put(w, "SUMMARY: MProf: ");
  mprof_report_put(w, s->name);
  mprof_report_put(w, ": ");
  mprof_report_plain(w, (int64_t)s->values, " values, ");
  mprof_report_plain(w, (int64_t)s->len, " stacks\n");
}

// --- the kind ---

struct custom_copy {
  struct mprof_custom_snapshot v[MPROF_CUSTOM_PROFILES];
  size_t len;
};

static int take(const struct mprof_profile_request *r) {
  struct custom_copy *c = r->copy;
  if (r->copies == NULL) {
    c->len = 1;
    return mprof_custom_snapshot_take(&c->v[0], r->number);
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

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct custom_copy *c = r->copy;
  const struct mprof_custom_snapshot *s =
      &c->v[r->copies != NULL ? r->number : 0];
  return r->form == MPROF_FORM_TEXT ? write_text(f, s) : write_pprof(f, s);
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

static void report(struct mprof_report *w, const void *copy) {
  const struct custom_copy *c = copy;
  for (size_t i = 0; i < c->len; i++)
    put_section(w, &c->v[i]);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct custom_copy *c = copy;
  for (size_t i = 0; i < c->len; i++)
    put_summary(w, &c->v[i]);
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
