// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the section of the exit report about threads: how many threads each
// stack has created, and the names of the live threads among them.

#include "write/report_threadcreate.h"

#include "bucket/bucket.h"
#include "options/flags.h"
#include "snapshot/snapshot_threadcreate.h"
#include "symbolize/drop_frames.h"
#include "write/report_text.h"

#include <string.h>

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

void mprof_report_threadcreate(
    struct mprof_report *w, const struct mprof_threadcreate_snapshot *s,
    const struct mprof_threadcreate_snapshot *threads) {
  mprof_report_put(w, "\nWhere threads were created\n\nTotal:     ");
  mprof_report_things(w, (int64_t)s->threads, "thread");
  mprof_report_put(w, ", ");
  mprof_report_count(w, (int64_t)s->live, " live, ");
  mprof_report_things(w, (int64_t)s->len, "stack");
  mprof_report_put(w, "\n");
  for (size_t i = 0; i < s->len && i < mprof_flags.report_top; i++) {
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)i + 1, ". ");
    put_origin(w, &s->samples[i], threads);
  }
}

void mprof_report_threadcreate_summary(
    struct mprof_report *w, const struct mprof_threadcreate_snapshot *s) {
  mprof_report_put(w, "SUMMARY: MProf: threadcreate: ");
  mprof_report_plain(w, (int64_t)s->threads, " threads, ");
  mprof_report_plain(w, (int64_t)s->live, " live, ");
  mprof_report_plain(w, (int64_t)s->len, " stacks\n");
}
