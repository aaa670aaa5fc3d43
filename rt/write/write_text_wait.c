// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the profiles of waits and of threads as legacy text. The counts and
// ticks were scaled when they were added to the buckets. Readers convert ticks
// to nanoseconds and multiply them by the sampling period, so the period in the
// file is always 1. (Go: printCountCycleProfile, printCountProfile with
// debug=1)

#include "write/write_text_wait.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/lock_names.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "stuck/stuck_types.h"
#include "symbolize/drop_frames.h"
#include "sys/message.h"
#include "thread_stacks/thread_slots.h"
#include "write/legacy.h"
#include "write/write_stuck.h"

static void put_wait_header(struct mprof_outfile *f,
                            const struct mprof_wait_snapshot *s) {
  bool is_mutex = s->type == MPROF_BUCKET_MUTEX;
  mprof_outfile_text(f, is_mutex ? "--- mutex:\n" : "--- contention:\n");
  mprof_outfile_text(f, "cycles/second=");
  mprof_outfile_dec(f, mprof_wait_ticks_per_second(s));
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

struct waits {
  const struct mprof_wait_snapshot *snapshot;
  struct mprof_wait_groups groups; // groups of the snapshot by stack and labels
};

static void put_wait_text(struct mprof_legacy *w, const void *waits) {
  const struct waits *x = waits;
  put_wait_header(w->out, x->snapshot);
  put_waits(w, &x->groups);
  mprof_legacy_stats(w);
  put_rate(w->out, x->snapshot);
}

int mprof_write_wait_text(struct mprof_outfile *f,
                          const struct mprof_wait_snapshot *s) {
  struct waits x = {.snapshot = s};
  int error = mprof_wait_groups_make(&x.groups, s, true);
  if (error == 0)
    error = mprof_legacy_write(f, s->len > 0, NULL, put_wait_text, &x);
  mprof_wait_groups_free(&x.groups);
  return mprof_outfile_fail(f, error);
}

static void put_threads(struct mprof_legacy *w, const void *snapshot) {
  const struct mprof_threadcreate_snapshot *s = snapshot;
  mprof_outfile_text(w->out, "threadcreate profile: total ");
  mprof_outfile_dec(w->out, s->threads);
  mprof_outfile_text(w->out, "\n# live: ");
  mprof_outfile_dec(w->out, s->live);
  mprof_outfile_text(w->out, "\n");
  for (size_t i = 0; i < s->len && w->out->error == 0; i++) {
    mprof_outfile_dec(w->out, s->samples[i].count);
    mprof_outfile_text(w->out, " @");
    mprof_legacy_stack(w, s->samples[i].bucket);
  }
  mprof_legacy_stats(w);
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

struct named_stacks {
  const struct mprof_thread_stacks *stacks;
  const char *name; // name of the profile
};

// Writes the stacks of all threads. A thread in state MPROF_STACK_UNREAD (its
// stack could not be read) has at most two addresses.
static void put_stacks(struct mprof_legacy *w, const void *named) {
  const struct mprof_thread_stacks *s =
      ((const struct named_stacks *)named)->stacks;
  mprof_outfile_text(w->out, ((const struct named_stacks *)named)->name);
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
      mprof_outfile_text(w->out, "# futex wait, not recorded\n");
    if (s->v[i]->grade != MPROF_MAY_RUN) {
      mprof_outfile_text(w->out, "# ");
      mprof_outfile_text(w->out, mprof_stuck_grade_name(s->v[i]->grade));
      mprof_outfile_text(w->out, "\n");
    }
    put_lock(w->out, s->v[i]->stack->object);
    mprof_outfile_dec(w->out, s->v[i]->count);
    mprof_outfile_text(w->out, " @");
    mprof_legacy_stack(w, s->v[i]->stack);
  }
  mprof_legacy_stats(w);
}

int mprof_write_threads_text(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s,
                             const char *name) {
  const struct named_stacks x = {.stacks = s, .name = name};
  return mprof_legacy_write(f, s->len > 0, NULL, put_stacks, &x);
}

int mprof_write_threadcreate_text(struct mprof_outfile *f,
                                  const struct mprof_threadcreate_snapshot *s) {
  return mprof_legacy_write(f, s->len > 0, MPROF_UNKNOWN_CREATOR, put_threads,
                            s);
}
