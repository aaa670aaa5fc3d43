// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU profile: processor time by the stack that used it, in the file format
// of Go's CPU profile. (Go: runtime/pprof/proto.go, newProfileBuilder,
// addCPUData)

#include "bucket/bucket.h"
#include "cpu/cpu.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "sys/message.h"
#include "sys/os.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

#include <errno.h>

// Shown for a sample whose signal came late; see cpu_samples.c.
#define BLOCKED "[signal blocked]"

struct cpu_sample {
  const struct mprof_bucket *bucket;
  uint64_t samples, ns;
};

struct cpu_copy {
  struct cpu_sample *samples; // all stacks, the newest first
  size_t len, mapped_bytes;
  int64_t time_ns;
  struct mprof_cpu_totals totals;
  // The profile is the difference to this earlier copy; NULL: to none. Its
  // stacks are the oldest ones of this copy.
  const struct cpu_copy *before;
};

static struct cpu_sample value_of(const struct cpu_copy *c, size_t i) {
  struct cpu_sample s = c->samples[i];
  if (c->before != NULL && i >= c->len - c->before->len) {
    const struct cpu_sample *then =
        &c->before->samples[i - (c->len - c->before->len)];
    s.samples -= then->samples;
    s.ns -= then->ns;
  }
  return s;
}

static struct cpu_sample total_of(const struct cpu_copy *c) {
  struct cpu_sample total = {.bucket = NULL};
  for (size_t i = 0; i < c->len; i++) {
    total.samples += c->samples[i].samples;
    total.ns += c->samples[i].ns;
  }
  return total;
}

// --- pprof ---

static void put_sample(struct mprof_pprof *w, const void *copy, size_t i,
                       const uint64_t *keys) {
  const struct cpu_sample s = value_of(copy, i);
  const int64_t values[] = {(int64_t)s.samples, (int64_t)s.ns};
  (void)keys;
  if (s.samples != 0)
    mprof_pprof_sample(w, s.bucket, values, NULL, 0);
}

static int write_pprof(struct mprof_outfile *f, const struct cpu_copy *c) {
  const int64_t duration =
      c->totals.on_ns - (c->before != NULL ? c->before->totals.on_ns : 0);
  const struct mprof_pprof_head head = {
      .types = {{"samples", "count"}, {"cpu", "nanoseconds"}},
      .types_len = 2,
      .period_type = {"cpu", "nanoseconds"},
      .period = c->totals.period_ns,
      .time_ns = c->time_ns - duration, // as in Go, the time of the begin
      .duration_ns = duration,
      .empty_stack = BLOCKED};
  return mprof_pprof_write(
      f, &head, &(struct mprof_pprof_samples){c, c->len, {NULL}, put_sample});
}

// --- legacy text ---

// A count profile, as Go writes for other profiles: the legacy format of CPU
// profiles is binary.
static void put_text(struct mprof_legacy *w, const void *copy) {
  const struct cpu_copy *c = copy;
  w->empty_stack = BLOCKED;
  mprof_legacy_total(w, "cpu", total_of(c).samples);
  for (size_t i = 0; i < c->len && w->out->error == 0; i++)
    mprof_legacy_count(w, c->samples[i].samples, c->samples[i].bucket);
  mprof_legacy_stats(w);
}

// --- the kind ---

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct cpu_copy *c = r->copy;
  return r->form == MPROF_FORM_TEXT
             ? mprof_legacy_write(f, c->len > 0, put_text, c)
             : write_pprof(f, c);
}

static int take(const struct mprof_profile_request *r) {
  struct cpu_copy *c = r->copy;
  c->totals = mprof_cpu_publish();
  c->time_ns = mprof_sys_realtime_ns();
  // The collector may add newer buckets meanwhile.
  const struct mprof_bucket *first = mprof_bucket_first(MPROF_BUCKET_CPU);
  size_t len = 0;
  for (const struct mprof_bucket *b = first; b != NULL; b = b->allnext)
    len++;
  if (len == 0)
    return 0;
  c->mapped_bytes = len * sizeof(*c->samples);
  c->samples = mprof_os_map(c->mapped_bytes);
  if (c->samples == NULL)
    return -ENOMEM;
  for (const struct mprof_bucket *b = first; b != NULL; b = b->allnext)
    c->samples[c->len++] = (struct cpu_sample){b, b->cpu.samples, b->cpu.ns};
  return 0;
}

static void release(void *copy) {
  struct cpu_copy *c = copy;
  if (c->samples != NULL)
    mprof_os_unmap(c->samples, c->mapped_bytes);
  *c = (struct cpu_copy){0};
}

static int write_delta(struct mprof_outfile *f,
                       const struct mprof_profile_request *r, void *before,
                       bool keeps_present) {
  struct cpu_copy d = *(const struct cpu_copy *)r->copy;
  (void)keeps_present;
  d.before = before;
  return write_pprof(f, &d);
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_bucket_count(MPROF_BUCKET_CPU);
}

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  if (!mprof_cpu_is_kept())
    return false;
  mprof_cpu_publish();
  return mprof_bucket_first(MPROF_BUCKET_CPU) != NULL;
}

static bool is_shown(const void *copy, void *const *copies) {
  const struct cpu_copy *c = copy;
  (void)copies;
  return c->len > 0 && mprof_cpu_is_kept();
}

static bool has_stacks(const void *copy) {
  const struct cpu_copy *c = copy;
  return c->len > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct cpu_copy *c = copy;
  (void)part;
  mprof_put_things_and_stacks(t, total_of(c).samples, "sample", c->len);
}

const struct mprof_profile_kind mprof_kind_cpu = {
    .copy_bytes = sizeof(struct cpu_copy),
    .last_form = MPROF_FORM_TEXT,
    .take = take,
    .free = release,
    .write = write,
    .write_delta = write_delta,
    .count = count,
    .has_data = has_data,
    .is_shown = is_shown,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
};
