// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile threadcreate, which shows the stacks that created threads. The
// report has the number of threads that each stack has created, and the names
// of the live threads among them.

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "snapshot/snapshot.h"
#include "symbolize/wrappers.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "thread/proc_threads.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

#include <string.h>

struct threadcreate_copy {
  // For the file: one sample for each stack and thread name.
  struct mprof_threadcreate_snapshot threads;
  // For the report: one sample for each stack.
  struct mprof_threadcreate_snapshot created;
};

// --- report ---

enum { NAMES_SHOWN = 5 };

// Writes the names of the live threads that the stack of b has created, such as
// ": one, two (3 times), ..."
static void put_names(struct mprof_report *w,
                      const struct mprof_threadcreate_snapshot *s,
                      const struct mprof_bucket *b) {
  int shown = 0;
  for (size_t i = 0; i < s->len; i++) {
    const struct mprof_threadcreate_sample *x = &s->samples[i];
    if (x->bucket != b || x->live == 0 || x->name[0] == '\0')
      continue;
    if (shown == NAMES_SHOWN) {
      mprof_report_put(w, ", ...");
      return;
    }
    mprof_report_put(w, shown++ == 0 ? ": " : ", ");
    mprof_report_put(w, x->name);
    if (x->live > 1) {
      mprof_report_put(w, " (");
      mprof_report_count(w, (int64_t)x->live, " times)");
    }
  }
}

static void put_origin(struct mprof_report *w,
                       const struct mprof_threadcreate_sample *s,
                       const struct mprof_threadcreate_snapshot *threads) {
  mprof_report_things(w, (int64_t)s->count, "thread");
  mprof_report_put(w, ", ");
  mprof_report_count(w, (int64_t)s->live, " live");
  put_names(w, threads, s->bucket);
  mprof_report_put(w, "\n");
  if (s->bucket->stack_len == 0)
    mprof_report_put(w, "    " MPROF_UNKNOWN_CREATOR
                        " the first thread, or a thread created by "
                        "uninstrumented code\n");
  else
    mprof_report_stack(w, s->bucket);
}

static void report(struct mprof_report *w, const void *copy) {
  const struct threadcreate_copy *c = copy;
  const struct mprof_threadcreate_snapshot *s = &c->created;
  mprof_report_put(w, "\nWhere threads were created\n\nTotal:     ");
  mprof_report_things(w, (int64_t)s->threads, "thread");
  mprof_report_put(w, ", ");
  mprof_report_count(w, (int64_t)s->live, " live, ");
  mprof_report_things(w, (int64_t)s->len, "stack");
  mprof_report_put(w, "\n");
  for (size_t i = 0; i < s->len && i < mprof_flags.report_top; i++) {
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)i + 1, ". ");
    put_origin(w, &s->samples[i], &c->threads);
  }
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct threadcreate_copy *c = copy;
  mprof_report_put(w, "SUMMARY: MProf: threadcreate: ");
  mprof_report_plain(w, (int64_t)c->created.threads, " threads, ");
  mprof_report_plain(w, (int64_t)c->created.live, " live, ");
  mprof_report_plain(w, (int64_t)c->created.len, " stacks\n");
}

// --- legacy text ---

static void put_text(struct mprof_legacy *w, const void *snapshot) {
  const struct mprof_threadcreate_snapshot *s = snapshot;
  w->empty_stack = MPROF_UNKNOWN_CREATOR;
  mprof_legacy_total(w, "threadcreate", s->threads);
  mprof_outfile_text(w->out, "# live: ");
  mprof_outfile_dec(w->out, s->live);
  mprof_outfile_text(w->out, "\n");
  for (size_t i = 0; i < s->len && w->out->error == 0; i++)
    mprof_legacy_count(w, s->samples[i].count, s->samples[i].bucket);
  mprof_legacy_stats(w);
}

// The snapshot has one sample for each stack, because the text has no thread
// names. (Go: printCountProfile)
static int write_text(struct mprof_outfile *f,
                      const struct mprof_threadcreate_snapshot *s) {
  return mprof_legacy_write(f, s->len > 0, put_text, s);
}

// --- pprof ---

static void put_sample(struct mprof_pprof *w, const void *snapshot, size_t i,
                       const uint64_t *thread_key) {
  const struct mprof_threadcreate_sample *x =
      &((const struct mprof_threadcreate_snapshot *)snapshot)->samples[i];
  const int64_t count = (int64_t)x->count;
  const struct mprof_pprof_label name = {.key = *thread_key,
                                         .str = mprof_pprof_string(w, x->name)};
  mprof_pprof_sample(w, x->bucket, &count, &name, name.str != 0);
}

static int write_pprof(struct mprof_outfile *f,
                       const struct mprof_threadcreate_snapshot *s) {
  const struct mprof_pprof_head head = {
      .types = {{"threadcreate", "count"}},
      .types_len = 1,
      .period_type = {"threadcreate", "count"},
      .period = 1,
      .time_ns = s->time_ns,
      .duration_ns = s->duration_ns,
      .rate_name = s->duration_ns == 0 ? "live_threads" : NULL,
      .rate = s->live,
      .empty_stack = MPROF_UNKNOWN_CREATOR};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){s, s->len, {"thread"}, put_sample});
}

// --- the kind ---

// Returns whether a thread was created. If the runtime did not see the
// creation, there is no bucket. But the statistic `threads` counts the new
// thread, and it also counts the first thread of the process.
static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_flags.threadcreate &&
         (mprof_bucket_first(MPROF_BUCKET_THREAD) != NULL ||
          mprof_stat_get(MPROF_STAT_threads) > 1);
}

// In a process whose only thread ends it, nothing is copied: the files of /proc
// would be read for a profile that is not shown.
static int take(const struct mprof_profile_request *r) {
  struct threadcreate_copy *c = r->copy;
  const bool at_exit = r->copies != NULL;
  if (at_exit && !has_data(r->row) && mprof_sys_getpid() == mprof_sys_gettid())
    return 0;
  int error = mprof_threadcreate_snapshot_take(
      &c->threads, !at_exit && r->form == MPROF_FORM_TEXT);
  return error == 0 && at_exit
             ? mprof_threadcreate_snapshot_take(&c->created, true)
             : error;
}

static void release(void *copy) {
  struct threadcreate_copy *c = copy;
  mprof_threadcreate_snapshot_free(&c->threads);
  mprof_threadcreate_snapshot_free(&c->created);
}

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct threadcreate_copy *c = r->copy;
  return r->form == MPROF_FORM_TEXT ? write_text(f, &c->threads)
                                    : write_pprof(f, &c->threads);
}

static bool is_on(void) { return mprof_flags.threadcreate; }

// Returns whether the profile is shown. A single thread is not shown, because
// every program has a first thread.
static bool is_shown(const void *copy, void *const *copies) {
  const struct threadcreate_copy *c = copy;
  (void)copies;
  return c->created.threads > 1;
}

static bool has_stacks(const void *copy) {
  const struct threadcreate_copy *c = copy;
  return c->created.threads > 1;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct threadcreate_copy *c = copy;
  (void)part;
  mprof_put_things(t, c->created.threads, "thread");
  mprof_text_str(t, ", ");
  mprof_text_grouped(t, c->created.live);
  mprof_text_str(t, " live, ");
  mprof_put_things(t, c->created.len, "stack");
}

static int write_delta(struct mprof_outfile *f,
                       const struct mprof_profile_request *r, void *before,
                       bool keeps_present) {
  const struct threadcreate_copy *c = r->copy, *b = before;
  struct mprof_threadcreate_snapshot d;
  (void)keeps_present;
  int error =
      mprof_threadcreate_snapshot_subtract(&d, &c->threads, &b->threads);
  if (error == 0)
    error = write_pprof(f, &d);
  mprof_threadcreate_snapshot_free(&d);
  return error;
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  struct mprof_threadcreate_snapshot s;
  if (mprof_threadcreate_snapshot_take(&s, true) != 0)
    return 0;
  const uint64_t threads = s.threads;
  mprof_threadcreate_snapshot_free(&s);
  return threads;
}

const struct mprof_profile_kind mprof_kind_threadcreate = {
    .copy_bytes = sizeof(struct threadcreate_copy),
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
    .sums_up_report = true,
    .report = report,
    .report_line = report_line,
};
