// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the profiles of waits and of threads as legacy text. Counts and ticks
// were scaled when they were counted. Readers turn ticks into nanoseconds, and
// multiply by the sampling period, so the file always says 1. (Go:
// printCountCycleProfile, printCountProfile with debug=1)

#include "write/write_text_wait.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "stuck/stuck_types.h"
#include "symbolize/drop_frames.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "wait/lock_names.h"
#include "wait/thread_slots.h"
#include "write/legacy.h"
#include "write/write_stuck.h"

#include <errno.h>

static void put_wait_header(struct mprof_outfile *f,
                            const struct mprof_wait_snapshot *s) {
  bool is_mutex = s->type == MPROF_BUCKET_MUTEX;
  mprof_outfile_text(f, is_mutex ? "--- mutex:\n" : "--- contention:\n");
  mprof_outfile_text(f, "cycles/second=");
  mprof_outfile_dec(f, s->ticks_per_second);
  mprof_outfile_text(f, is_mutex ? "\nsampling period=1\n" : "\n");
}

static void put_waits(struct mprof_legacy *w,
                      const struct mprof_wait_groups *g) {
  for (size_t i = 0; i < g->len && w->out->error == 0; i++) {
    mprof_outfile_dec(w->out, (uint64_t)g->sorted[i]->cycles);
    mprof_outfile_text(w->out, " ");
    mprof_outfile_dec(w->out, (uint64_t)g->sorted[i]->count);
    mprof_outfile_text(w->out, " @");
    mprof_legacy_stack(w, g->sorted[i]->bucket);
  }
}

static void put_rate(struct mprof_outfile *f,
                     const struct mprof_wait_snapshot *s) {
  bool is_mutex = s->type == MPROF_BUCKET_MUTEX;
  mprof_outfile_text(f, is_mutex ? "# mutex_fraction = " : "# block_rate = ");
  mprof_outfile_dec(f, s->rate);
  mprof_outfile_text(f, "\n");
}

static int write_waits(struct mprof_outfile *f,
                       const struct mprof_wait_snapshot *s,
                       const struct mprof_wait_groups *g) {
  struct mprof_legacy *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return mprof_outfile_fail(f, ENOMEM);
  mprof_legacy_begin(w, f, s->len > 0);
  put_wait_header(w->out, s);
  put_waits(w, g);
  mprof_legacy_stats(w);
  put_rate(w->out, s);
  int error = mprof_legacy_end(w, MPROF_LEGACY_MAP_TITLE);
  mprof_os_unmap(w, sizeof(*w));
  return error;
}

int mprof_write_wait_text(struct mprof_outfile *f,
                          const struct mprof_wait_snapshot *s) {
  struct mprof_wait_groups g;
  int error = mprof_wait_groups_make(&g, s, true);
  if (error == 0)
    error = write_waits(f, s, &g);
  mprof_wait_groups_free(&g);
  return mprof_outfile_fail(f, error);
}

static void put_threads(struct mprof_legacy *w,
                        const struct mprof_threadcreate_snapshot *s) {
  mprof_outfile_text(w->out, "threadcreate profile: total ");
  mprof_outfile_dec(w->out, s->threads);
  mprof_outfile_text(w->out, "\n");
  for (size_t i = 0; i < s->len && w->out->error == 0; i++) {
    mprof_outfile_dec(w->out, s->samples[i].count);
    mprof_outfile_text(w->out, " @");
    mprof_legacy_stack(w, s->samples[i].bucket);
  }
}

static void put_lock(struct mprof_outfile *f, uintptr_t object) {
  if (object == 0)
    return;
  char text[MPROF_LOCK_NAME + 32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_lock_label(&t, object);
  mprof_outfile_text(f, "# lock ");
  mprof_outfile_text(f, text);
  mprof_outfile_text(f, "\n");
}

// Puts the threads' stacks. A thread that was not read has one address at most.
static void put_stacks(struct mprof_legacy *w,
                       const struct mprof_thread_stacks *s, const char *name) {
  mprof_outfile_text(w->out, name);
  mprof_outfile_text(w->out, " profile: total ");
  mprof_outfile_dec(w->out, s->threads);
  mprof_outfile_text(w->out, "\n");
  char unseen[MPROF_UNSEEN_TEXT];
  if (mprof_unseen_text(unseen, s)) {
    mprof_outfile_text(w->out, "# ");
    mprof_outfile_text(w->out, unseen);
    mprof_outfile_text(w->out, "\n");
  }
  for (size_t i = 0; i < s->len && w->out->error == 0; i++) {
    if (s->v[i]->source == MPROF_STACK_UNREAD)
      mprof_outfile_text(w->out, "# not read\n");
    if (s->v[i]->source == MPROF_STACK_IN_FUTEX)
      mprof_outfile_text(w->out, "# futex wait, not seen\n");
    if (s->v[i]->grade != MPROF_MAY_RUN) {
      mprof_outfile_text(w->out, "# ");
      mprof_outfile_text(w->out, mprof_stuck_grade_name(s->v[i]->grade));
      mprof_outfile_text(w->out, "\n");
    }
    put_lock(w->out, s->v[i]->stack.object);
    mprof_outfile_dec(w->out, s->v[i]->count);
    mprof_outfile_text(w->out, " @");
    mprof_legacy_stack(w, &s->v[i]->stack);
  }
}

int mprof_write_threads_text(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s,
                             const char *name) {
  struct mprof_legacy *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return mprof_outfile_fail(f, ENOMEM);
  mprof_legacy_begin(w, f, s->len > 0);
  put_stacks(w, s, name);
  mprof_legacy_stats(w);
  int error = mprof_legacy_end(w, MPROF_LEGACY_MAP_TITLE);
  mprof_os_unmap(w, sizeof(*w));
  return error;
}

int mprof_write_threadcreate_text(struct mprof_outfile *f,
                                  const struct mprof_threadcreate_snapshot *s) {
  struct mprof_legacy *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return mprof_outfile_fail(f, ENOMEM);
  w->empty_stack = MPROF_UNKNOWN_CREATOR;
  mprof_legacy_begin(w, f, s->len > 0);
  put_threads(w, s);
  mprof_legacy_stats(w);
  int error = mprof_legacy_end(w, MPROF_LEGACY_MAP_TITLE);
  mprof_os_unmap(w, sizeof(*w));
  return error;
}
