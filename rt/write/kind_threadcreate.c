// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions (profile_kind.h) of the profile threadcreate, which shows the
// stacks that created threads.

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "snapshot/snapshot_threadcreate.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/stats.h"
#include "thread/proc_threads.h"
#include "write/numbers.h"
#include "write/profile_kind.h"
#include "write/report_text.h"
#include "write/report_threadcreate.h"
#include "write/write_pprof.h"
#include "write/write_text_wait.h"

struct threadcreate_copy {
  // For the file: one sample for each stack and thread name.
  struct mprof_threadcreate_snapshot threads;
  // For the report: one sample for each stack.
  struct mprof_threadcreate_snapshot created;
};

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
static int take(void *copy, const struct mprof_profile_row *row,
                const struct mprof_profile_taking *t) {
  struct threadcreate_copy *c = copy;
  const bool at_exit = t->copies != NULL;
  if (at_exit && !has_data(row) && mprof_sys_getpid() == mprof_sys_gettid())
    return 0;
  int error = mprof_threadcreate_snapshot_take(
      &c->threads, !at_exit && t->form == MPROF_FORM_TEXT);
  return error == 0 && at_exit
             ? mprof_threadcreate_snapshot_take(&c->created, true)
             : error;
}

static void release(void *copy) {
  struct threadcreate_copy *c = copy;
  mprof_threadcreate_snapshot_free(&c->threads);
  mprof_threadcreate_snapshot_free(&c->created);
}

static int write(struct mprof_outfile *f, const void *copy,
                 const struct mprof_profile_row *row,
                 enum mprof_profile_form form, size_t number) {
  const struct threadcreate_copy *c = copy;
  (void)row;
  (void)number;
  return form == MPROF_FORM_TEXT
             ? mprof_write_threadcreate_text(f, &c->threads)
             : mprof_write_threadcreate_pprof(f, &c->threads);
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

static void report(struct mprof_report *w, const void *copy,
                   void *const *copies) {
  const struct threadcreate_copy *c = copy;
  (void)copies;
  mprof_report_threadcreate(w, &c->created, &c->threads);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct threadcreate_copy *c = copy;
  mprof_report_threadcreate_summary(w, &c->created);
}

static int write_delta(struct mprof_outfile *f, const void *copy, void *before,
                       const struct mprof_profile_row *row,
                       bool keeps_present) {
  const struct threadcreate_copy *c = copy, *b = before;
  struct mprof_threadcreate_snapshot d;
  (void)row;
  (void)keeps_present;
  int error =
      mprof_threadcreate_snapshot_subtract(&d, &c->threads, &b->threads);
  if (error == 0)
    error = mprof_write_threadcreate_pprof(f, &d);
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
