// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile mmap: mapped memory by the stack that has mapped it, with the
// value types of the heap profile. Nothing is sampled.

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "memory/mapped_ranges.h"
#include "options/flags.h"
#include "sys/message.h"
#include "sys/os.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

struct mmap_copy {
  struct mprof_map_sample *samples; // all stacks, the newest first
  size_t len, mapped_bytes;
  int64_t time_ns;
  // The profile is the difference to this earlier copy; NULL: to none. Its
  // stacks are the oldest ones of this copy.
  const struct mmap_copy *before;
  bool keeps_present; // what is in use is no difference
};

static void get_values(const struct mmap_copy *c, size_t i, uint64_t *values) {
  const struct mprof_map_counts *now = &c->samples[i].counts;
  values[0] = now->alloc_objects;
  values[1] = now->alloc_bytes;
  values[2] = now->inuse_objects;
  values[3] = now->inuse_bytes;
  if (c->before == NULL || i < c->len - c->before->len)
    return;
  const struct mprof_map_counts *then =
      &c->before->samples[i - (c->len - c->before->len)].counts;
  values[0] -= then->alloc_objects;
  values[1] -= then->alloc_bytes;
  values[2] -= c->keeps_present ? 0 : then->inuse_objects;
  values[3] -= c->keeps_present ? 0 : then->inuse_bytes;
}

static bool is_empty(const uint64_t *values) {
  return (values[0] | values[1] | values[2] | values[3]) == 0;
}

static void add_up(const struct mmap_copy *c, uint64_t *total) {
  for (int k = 0; k < 4; k++)
    total[k] = 0;
  for (size_t i = 0; i < c->len; i++) {
    uint64_t values[4];
    get_values(c, i, values);
    for (int k = 0; k < 4; k++)
      total[k] += values[k];
  }
}

// --- pprof ---

static void put_sample(struct mprof_pprof *w, const void *copy, size_t i,
                       const uint64_t *keys) {
  const struct mmap_copy *c = copy;
  uint64_t values[4];
  (void)keys;
  get_values(c, i, values);
  if (!is_empty(values))
    mprof_pprof_sample(w, c->samples[i].bucket, (const int64_t *)values, NULL,
                       0);
}

static int write_pprof(struct mprof_outfile *f, const struct mmap_copy *c) {
  const struct mprof_pprof_head head = {
      .types = {{"alloc_objects", "count"},
                {"alloc_space", "bytes"},
                {"inuse_objects", "count"},
                {"inuse_space", "bytes"}},
      .types_len = 4,
      .period_type = {"mmap", "bytes"},
      .period = 1,
      .time_ns = c->time_ns,
      .duration_ns = c->before == NULL ? 0 : c->time_ns - c->before->time_ns};
  return mprof_pprof_write(
      f, &head, &(struct mprof_pprof_samples){c, c->len, {NULL}, put_sample});
}

// --- legacy text ---

static void put_values(struct mprof_outfile *f, const uint64_t *values) {
  const uint64_t counts[4] = {values[2], values[3], values[0], values[1]};
  mprof_legacy_blocks(f, counts);
}

// The text of a heap profile that is not sampled.
static void put_text(struct mprof_legacy *w, const void *copy) {
  const struct mmap_copy *c = copy;
  uint64_t values[4];
  w->maps_title = "MAPPED_LIBRARIES:";
  add_up(c, values);
  mprof_outfile_text(w->out, "heap profile: ");
  put_values(w->out, values);
  mprof_outfile_text(w->out, " heapprofile\n");
  for (size_t i = 0; i < c->len && w->out->error == 0; i++) {
    get_values(c, i, values);
    if (is_empty(values))
      continue;
    put_values(w->out, values);
    mprof_legacy_stack(w, c->samples[i].bucket);
  }
  mprof_legacy_stats(w);
}

// --- the kind ---

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct mmap_copy *c = r->copy;
  return r->form == MPROF_FORM_TEXT
             ? mprof_legacy_write(f, c->len > 0, put_text, c)
             : write_pprof(f, c);
}

static int take(const struct mprof_profile_request *r) {
  struct mmap_copy *c = r->copy;
  c->time_ns = mprof_sys_realtime_ns();
  return mprof_ranges_copy_counts(&c->samples, &c->len, &c->mapped_bytes);
}

static void release(void *copy) {
  struct mmap_copy *c = copy;
  if (c->samples != NULL)
    mprof_os_unmap(c->samples, c->mapped_bytes);
  *c = (struct mmap_copy){0};
}

static int write_delta(struct mprof_outfile *f,
                       const struct mprof_profile_request *r, void *before,
                       bool keeps_present) {
  struct mmap_copy d = *(const struct mmap_copy *)r->copy;
  d.before = before;
  d.keeps_present = keeps_present;
  return write_pprof(f, &d);
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_bucket_count(MPROF_BUCKET_MAP);
}

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_flags.mmap && mprof_ranges_has_calls();
}

static bool is_on(void) { return mprof_flags.mmap; }

static bool is_shown(const void *copy, void *const *copies) {
  const struct mmap_copy *c = copy;
  (void)copies;
  return c->len > 0 && mprof_ranges_has_calls();
}

static bool has_stacks(const void *copy) {
  const struct mmap_copy *c = copy;
  return c->len > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct mmap_copy *c = copy;
  uint64_t values[4];
  (void)part;
  add_up(c, values);
  mprof_put_things_and_stacks(t, values[0], "mapping", c->len);
}

const struct mprof_profile_kind mprof_kind_mmap = {
    .copy_bytes = sizeof(struct mmap_copy),
    .last_form = MPROF_FORM_TEXT,
    .take = take,
    .free = release,
    .write = write,
    .write_delta = write_delta,
    .count = count,
    .has_data = has_data,
    .is_on = is_on,
    .is_shown = is_shown,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
};
