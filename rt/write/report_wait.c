// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes two sections of the exit report. The section of the block profile
// shows the waits of threads. The section of the mutex profile shows the
// unlocks that ended waits of other threads.

#include "write/report_wait.h"

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "lock_wait/lock_names.h"
#include "options/flags.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_wait.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "write/report_text.h"

// The data and texts of a section: either the block profile or the mutex
// profile.
struct section {
  const struct mprof_wait_snapshot *snapshot;
  const struct mprof_wait_groups *stacks;
  const char *title, *thing, *name, *rate_name;
};

static struct section section_of(const struct mprof_wait_snapshot *s,
                                 const struct mprof_wait_groups *g) {
  const bool is_block = s->type == MPROF_BUCKET_BLOCK;
  return (struct section){
      .snapshot = s,
      .stacks = g,
      .title =
          is_block
              ? "Where threads waited (block profile)"
              : "Which unlocks ended waits of other threads (mutex profile)",
      .thing = is_block ? "wait" : "contention",
      .name = is_block ? "block" : "mutex",
      .rate_name = is_block ? " stacks, rate " : " stacks, fraction "};
}

static void put_rate(struct mprof_report *w,
                     const struct mprof_wait_snapshot *s) {
  bool is_block = s->type == MPROF_BUCKET_BLOCK;
  mprof_report_put(w, "Rate:      ");
  if (s->rate == 0) {
    mprof_report_put(w, "0, sampling was switched off");
  } else if (s->rate == 1) {
    mprof_report_put(w, is_block ? "1, every wait is counted"
                                 : "1, every contended unlock is counted");
  } else if (is_block) {
    mprof_report_put(w, "one sample every ");
    mprof_report_time(w, (int64_t)s->rate);
    mprof_report_put(w, " of waiting on average; the figures are estimates");
  } else {
    mprof_report_put(w, "one contended unlock in ");
    mprof_report_count(w, (int64_t)s->rate, "; the figures are estimates");
  }
}

// Writes a duration and a count, such as "1.50 s in 12 waits, 125.00 ms each".
static void put_delay(struct mprof_report *w, const struct section *p,
                      int64_t cycles, int64_t count) {
  int64_t ns = mprof_wait_ns(p->snapshot, cycles);
  mprof_report_time(w, ns);
  mprof_report_put(w, " in ");
  mprof_report_things(w, count, p->thing);
  if (count > 1) {
    mprof_report_put(w, ", ");
    mprof_report_time(w, ns / count);
    mprof_report_put(w, " each");
  }
}

// Writes the lock of s, such as "    mutex queue (0x7f...) and 2 other locks".
static void put_lock(struct mprof_report *w, const struct mprof_wait_sum *s) {
  mprof_report_put(w, "    ");
  mprof_report_put(w, mprof_kind_name(s->bucket->kind));
  if (s->bucket->object != 0) {
    char text[MPROF_LOCK_NAME + 32];
    struct mprof_text t = MPROF_TEXT(text);
    mprof_lock_label(&t, s->bucket->object);
    mprof_report_put(w, " ");
    mprof_report_put(w, text);
  }
  if (s->locks > 1) {
    mprof_report_put(w, " and ");
    mprof_report_things(w, (int64_t)s->locks - 1, "other lock");
  }
  mprof_report_put(w, "\n");
}

// Returns whether s concerns locks of the runtime. With exact sampling of the
// heap, these could fill the section.
static bool is_own(const struct mprof_wait_sum *s) {
  return s->bucket->kind == MPROF_KIND_own;
}

// Sums over stacks.
struct total {
  int64_t count, cycles;
  size_t stacks;
};

static struct total total_of_own(const struct mprof_wait_groups *g) {
  struct total t = {0};
  for (size_t i = 0; i < g->len; i++)
    if (is_own(g->sorted[i])) {
      t.count += g->sorted[i]->count;
      t.cycles += g->sorted[i]->cycles;
      t.stacks++;
    }
  return t;
}

// Writes the entries of the section that concern the program's locks.
static void put_stacks(struct mprof_report *w, const struct section *p,
                       int64_t total) {
  const struct mprof_wait_groups *g = p->stacks;
  size_t shown = 0;
  for (size_t i = 0; i < g->len && shown < mprof_flags.report_top; i++) {
    const struct mprof_wait_sum *s = g->sorted[i];
    if (is_own(s))
      continue;
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)++shown, ". ");
    put_delay(w, p, s->cycles, s->count);
    mprof_report_put(w, ", ");
    mprof_report_percent(w, s->cycles, total);
    mprof_report_put(w, "\n");
    put_lock(w, s);
    mprof_report_labels(w, &s->labels);
    mprof_report_stack(w, s->bucket);
  }
}

// Writes how long threads waited for MProf's own locks, which are not in the
// profile.
static void put_own_total(struct mprof_report *w) {
  const int64_t ns = mprof_clock_ns(mprof_lock_wait_ticks());
  if (ns == 0)
    return;
  mprof_report_put(w, "Profiler:  ");
  mprof_report_time(w, ns);
  mprof_report_put(w, " for MProf's own locks, which are not in the profile\n");
}

static void put_section(struct mprof_report *w, const struct section *p) {
  const struct mprof_wait_groups *g = p->stacks;
  const struct total own = total_of_own(g);
  mprof_report_put(w, "\n");
  mprof_report_put(w, p->title);
  mprof_report_put(w, "\n\n");
  put_rate(w, p->snapshot);
  mprof_report_put(w, "\nTotal:     ");
  put_delay(w, p, g->cycles - own.cycles, g->count - own.count);
  mprof_report_put(w, ", ");
  mprof_report_things(w, (int64_t)(g->len - own.stacks), "stack");
  mprof_report_put(w, "\n");
  if (own.stacks > 0) {
    mprof_report_put(w, "Profiler:  ");
    put_delay(w, p, own.cycles, own.count);
    mprof_report_put(w, " for MProf's own locks, which are not listed here; in "
                        "the profile their kind is mprof\n");
  } else if (p->snapshot->type == MPROF_BUCKET_MUTEX) {
    put_own_total(w);
  }
  put_stacks(w, p, g->cycles - own.cycles);
}

static void put_summary(struct mprof_report *w, const struct section *p) {
  const struct mprof_wait_groups *g = p->stacks;
  mprof_report_put(w, "SUMMARY: MProf: ");
  mprof_report_put(w, p->name);
  mprof_report_put(w, ": ");
  mprof_report_plain(w, g->count, " ");
  mprof_report_put(w, p->thing);
  mprof_report_put(w, "s, ");
  mprof_report_plain(w, mprof_wait_ns(p->snapshot, g->cycles), " ns, ");
  mprof_report_plain(w, (int64_t)g->len, p->rate_name);
  mprof_report_plain(w, (int64_t)p->snapshot->rate, "\n");
}

void mprof_report_wait(struct mprof_report *w,
                       const struct mprof_wait_snapshot *s,
                       const struct mprof_wait_groups *g) {
  const struct section p = section_of(s, g);
  put_section(w, &p);
}

void mprof_report_wait_summary(struct mprof_report *w,
                               const struct mprof_wait_snapshot *s,
                               const struct mprof_wait_groups *g) {
  const struct section p = section_of(s, g);
  put_summary(w, &p);
}
