// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profiles block, mutex and wall. The block profile shows where threads
// waited. The mutex profile shows where threads made others wait: the unlocks
// that ended the waits. The wall profile shows what all threads did. The field
// `variant` of struct mprof_profile_row is the type of the profile's buckets.

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "thread_stacks/thread_stacks.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

struct wait_copy {
  struct mprof_wait_snapshot snapshot; // one sample for each stack and lock
  struct mprof_wait_groups stacks;     // groups of the samples by stack
};

// --- report ---

// Returns the noun for the events of the profile.
static const char *thing_of(const struct mprof_wait_snapshot *s) {
  return s->type == MPROF_BUCKET_BLOCK  ? "wait"
         : s->type == MPROF_BUCKET_WALL ? "sample"
                                        : "contention";
}

static void put_rate(struct mprof_report *w,
                     const struct mprof_wait_snapshot *s) {
  bool is_block = s->type == MPROF_BUCKET_BLOCK;
  mprof_report_put(w, "Rate:      ");
  if (s->type == MPROF_BUCKET_WALL) {
    mprof_report_count(w, (int64_t)s->rate,
                       " samples of each thread per second; the figures are "
                       "estimates");
  } else if (s->rate == 0) {
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
static void put_delay(struct mprof_report *w,
                      const struct mprof_wait_snapshot *s, int64_t cycles,
                      int64_t count) {
  int64_t ns = mprof_wait_ns(s, cycles);
  mprof_report_time(w, ns);
  mprof_report_put(w, " in ");
  mprof_report_things(w, count, thing_of(s));
  if (count > 1 && s->type != MPROF_BUCKET_WALL) {
    mprof_report_put(w, ", ");
    mprof_report_time(w, ns / count);
    mprof_report_put(w, " each");
  }
}

// Writes the lock of s, such as "    mutex queue (0x7f...) and 2 others".
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
    mprof_report_things(w, (int64_t)s->locks - 1, "other");
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
static void put_stacks(struct mprof_report *w, const struct wait_copy *c,
                       int64_t total) {
  const struct mprof_wait_groups *g = &c->stacks;
  size_t shown = 0;
  for (size_t i = 0; i < g->len && shown < mprof_flags.report_top; i++) {
    const struct mprof_wait_sum *s = g->sorted[i];
    if (is_own(s))
      continue;
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)++shown, ". ");
    put_delay(w, &c->snapshot, s->cycles, s->count);
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

// Writes the processor time of the wall profile and the times of all states,
// the longest first, such as "running 1.50 s, mutex 0.25 s".
static void put_states(struct mprof_report *w, const struct wait_copy *c) {
  const struct mprof_wait_snapshot *s = &c->snapshot;
  int64_t cycles[UINT8_MAX + 1] = {0};
  mprof_report_put(w, "Processor: ");
  mprof_report_time(w, c->stacks.cpu_ns);
  mprof_report_put(w, "\nStates:    ");
  for (size_t i = 0; i < s->len; i++)
    cycles[s->samples[i].bucket->kind] += s->samples[i].cycles;
  for (bool is_first = true;; is_first = false) {
    size_t most = 0;
    for (size_t i = 1; i <= UINT8_MAX; i++)
      if (cycles[i] > cycles[most])
        most = i;
    if (cycles[most] == 0)
      break;
    mprof_report_put(w, is_first ? "" : ", ");
    mprof_report_put(w, mprof_kind_name((enum mprof_kind)most));
    mprof_report_put(w, " ");
    mprof_report_time(w, mprof_wait_ns(s, cycles[most]));
    cycles[most] = 0;
  }
  mprof_report_put(w, "\n");
}

static void report(struct mprof_report *w, const void *copy) {
  const struct wait_copy *c = copy;
  const struct mprof_wait_snapshot *s = &c->snapshot;
  const struct mprof_wait_groups *g = &c->stacks;
  const struct total own = total_of_own(g);
  mprof_report_put(
      w,
      s->type == MPROF_BUCKET_BLOCK
          ? "\nWhere threads waited (block profile)\n\n"
      : s->type == MPROF_BUCKET_WALL
          ? "\nWhat all threads did (wall profile)\n\n"
          : "\nWhich unlocks ended waits of other threads (mutex profile)\n\n");
  put_rate(w, s);
  mprof_report_put(w, "\nTotal:     ");
  put_delay(w, s, g->cycles - own.cycles, g->count - own.count);
  mprof_report_put(w, ", ");
  mprof_report_things(w, (int64_t)(g->len - own.stacks), "stack");
  mprof_report_put(w, "\n");
  if (s->type == MPROF_BUCKET_WALL)
    put_states(w, c);
  if (own.stacks > 0) {
    mprof_report_put(w, "Profiler:  ");
    put_delay(w, s, own.cycles, own.count);
    mprof_report_put(w, " for MProf's own locks, which are not listed here; in "
                        "the profile their kind is mprof\n");
  } else if (s->type == MPROF_BUCKET_MUTEX) {
    put_own_total(w);
  }
  put_stacks(w, c, g->cycles - own.cycles);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct wait_copy *c = copy;
  const struct mprof_wait_snapshot *s = &c->snapshot;
  const bool is_mutex = s->type == MPROF_BUCKET_MUTEX;
  mprof_report_put(w, "SUMMARY: MProf: ");
  mprof_report_put(w, s->type == MPROF_BUCKET_BLOCK ? "block: "
                      : is_mutex                    ? "mutex: "
                                                    : "wall: ");
  mprof_report_plain(w, c->stacks.count, " ");
  mprof_report_put(w, thing_of(s));
  mprof_report_put(w, "s, ");
  mprof_report_plain(w, mprof_wait_ns(s, c->stacks.cycles), " ns, ");
  mprof_report_plain(w, (int64_t)c->stacks.len,
                     is_mutex ? " stacks, fraction " : " stacks, rate ");
  mprof_report_plain(w, (int64_t)s->rate, "\n");
}

// --- legacy text ---
//
// The counts and ticks were scaled when they were added to the buckets. Readers
// convert ticks to nanoseconds and multiply them by the sampling period, so the
// period in the file is always 1. (Go: printCountCycleProfile with debug=1)

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

static void put_text_rate(struct mprof_outfile *f,
                          const struct mprof_wait_snapshot *s) {
  mprof_outfile_text(f, s->type == MPROF_BUCKET_MUTEX  ? "# mutex_fraction = "
                        : s->type == MPROF_BUCKET_WALL ? "# wall_rate = "
                                                       : "# block_rate = ");
  mprof_outfile_dec(f, s->rate);
  mprof_outfile_text(f, "\n");
}

struct waits {
  const struct mprof_wait_snapshot *snapshot;
  struct mprof_wait_groups groups; // groups of the snapshot by stack and labels
};

static void put_text(struct mprof_legacy *w, const void *waits) {
  const struct waits *x = waits;
  put_wait_header(w->out, x->snapshot);
  put_waits(w, &x->groups);
  mprof_legacy_stats(w);
  put_text_rate(w->out, x->snapshot);
}

static int write_text(struct mprof_outfile *f,
                      const struct mprof_wait_snapshot *s) {
  struct waits x = {.snapshot = s};
  int error = mprof_wait_groups_make(&x.groups, s, true);
  if (error == 0)
    error = mprof_legacy_write(f, s->len > 0, put_text, &x);
  mprof_groups_free(&x.groups.groups);
  return mprof_outfile_fail(f, error);
}

// --- pprof ---
//
// Each sample has its lock as a label, so the snapshot must not be by stack.
// (Go: printCountCycleProfile)

// Indices of the label keys in mprof_pprof_samples.keys.
enum { LOCK, KIND };

static void put_sample(struct mprof_pprof *w, const void *snapshot, size_t i,
                       const uint64_t *keys) {
  const struct mprof_wait_snapshot *s = snapshot;
  const struct mprof_wait_sample *x = &s->samples[i];
  const struct mprof_bucket *b = x->bucket;
  const int64_t values[] = {x->count, mprof_wait_ns(s, x->cycles), x->cpu_ns};
  struct mprof_pprof_label labels[2] = {
      {.key = keys[KIND],
       .str = mprof_pprof_string(w, mprof_kind_name(b->kind))}};
  size_t n = 1;
  if (b->object != 0) {
    char text[MPROF_LOCK_NAME + 32];
    struct mprof_text t = MPROF_TEXT(text);
    mprof_lock_label(&t, b->object);
    labels[n++] = (struct mprof_pprof_label){
        .key = keys[LOCK], .str = mprof_pprof_string(w, text)};
  }
  mprof_pprof_sample(w, b, values, labels, n);
}

static int write_wall(struct mprof_outfile *f,
                      const struct mprof_wait_snapshot *s) {
  const struct mprof_pprof_head head = {
      .types = {{"samples", "count"},
                {"wall", "nanoseconds"},
                {"cpu", "nanoseconds"}},
      .types_len = 3,
      .period_type = {"wall", "nanoseconds"},
      .period = 1000000000 / (s->rate != 0 ? s->rate : MPROF_WALL_RATE),
      .default_type = "wall",
      .time_ns = s->time_ns,
      .duration_ns = s->duration_ns,
      .rate_name = "wall_rate",
      .rate = s->rate,
      .empty_stack = "[unknown]"};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){
          s, s->len, {[LOCK] = "lock", [KIND] = "state"}, put_sample});
}

static int write_pprof(struct mprof_outfile *f,
                       const struct mprof_wait_snapshot *s) {
  if (s->type == MPROF_BUCKET_WALL)
    return write_wall(f, s);
  const struct mprof_pprof_head head = {
      .types = {{"contentions", "count"}, {"delay", "nanoseconds"}},
      .types_len = 2,
      .period_type = {"contentions", "count"},
      .period = 1,
      .time_ns = s->time_ns,
      .duration_ns = s->duration_ns,
      .rate_name =
          s->type == MPROF_BUCKET_BLOCK ? "block_rate" : "mutex_fraction",
      .rate = s->rate};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){
          s, s->len, {[LOCK] = "lock", [KIND] = "kind"}, put_sample});
}

// --- the kind ---

_Static_assert(MPROF_BUCKET_BLOCK == 2 && MPROF_BUCKET_MUTEX == 3 &&
                   MPROF_BUCKET_WALL == 9,
               "the enumerators must have the numbers that profiles.def gives "
               "as variants");

static bool is_offered(const struct mprof_profile_row *row) {
  return row->variant != MPROF_BUCKET_WALL || mprof_wall_rate() != 0 ||
         mprof_bucket_first(MPROF_BUCKET_WALL) != NULL;
}

static int take(const struct mprof_profile_request *r) {
  struct wait_copy *c = r->copy;
  return mprof_wait_snapshot_take(
      &c->snapshot, (enum mprof_bucket_type)r->row->variant, false);
}

static void release(void *copy) {
  struct wait_copy *c = copy;
  mprof_groups_free(&c->stacks.groups);
  mprof_wait_snapshot_free(&c->snapshot);
}

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct wait_copy *c = r->copy;
  return r->form == MPROF_FORM_TEXT ? write_text(f, &c->snapshot)
                                    : write_pprof(f, &c->snapshot);
}

static int group(void *copy) {
  struct wait_copy *c = copy;
  return mprof_wait_groups_make(&c->stacks, &c->snapshot, false);
}

static bool has_data(const struct mprof_profile_row *row) {
  return mprof_bucket_first((enum mprof_bucket_type)row->variant) != NULL;
}

static bool is_shown(const void *copy, void *const *copies) {
  const struct wait_copy *c = copy;
  (void)copies;
  return (c->snapshot.rate != 0 && c->snapshot.type != MPROF_BUCKET_WALL) ||
         c->snapshot.len > 0;
}

static bool has_stacks(const void *copy) {
  const struct wait_copy *c = copy;
  return c->snapshot.len > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct wait_copy *c = copy;
  (void)part;
  mprof_put_things_and_stacks(t, (uint64_t)c->stacks.count,
                              thing_of(&c->snapshot), c->stacks.len);
}

static int write_delta(struct mprof_outfile *f,
                       const struct mprof_profile_request *r, void *before,
                       bool keeps_present) {
  const struct wait_copy *c = r->copy, *b = before;
  struct mprof_wait_snapshot d;
  (void)keeps_present;
  int error = mprof_wait_snapshot_subtract(&d, &c->snapshot, &b->snapshot);
  if (error == 0)
    error = write_pprof(f, &d);
  mprof_wait_snapshot_free(&d);
  return error;
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)number;
  return mprof_bucket_count((enum mprof_bucket_type)row->variant);
}

const struct mprof_profile_kind mprof_kind_wait = {
    .copy_bytes = sizeof(struct wait_copy),
    .last_form = MPROF_FORM_TEXT,
    .is_offered = is_offered,
    .take = take,
    .free = release,
    .write = write,
    .write_delta = write_delta,
    .count = count,
    .has_data = has_data,
    .group = group,
    .is_shown = is_shown,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
    .sums_up_report = true,
    .report = report,
    .report_line = report_line,
};
