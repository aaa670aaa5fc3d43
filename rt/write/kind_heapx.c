// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile heapx, which shows temporary blocks, resizes, slack (usable bytes
// beyond the requested sizes) and lifetimes. At the end of the process, this
// profile is written from the snapshot of the heap profile, which has the heapx
// counters.

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "file/outfile.h"
#include "heap/event.h"
#include "options/flags.h"
#include "snapshot/snapshot.h"
#include "sys/message.h"
#include "sys/scale.h"
#include "sys/sort.h"
#include "write/kinds.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

// Estimates for all freed blocks: the sum of their lifetimes, and their number,
// in all and by lifetime (struct mprof_heapx_lives).
struct lives {
  int64_t ns, count, n[MPROF_HEAPX_LIVES];
};
struct heapx_sum {
  const struct mprof_bucket *bucket; // a bucket with the stack of this group
  struct mprof_heapx_estimate sum;
  struct lives lives;
};
struct heapx_groups {
  struct mprof_groups groups;
  // Pointers to the len groups, in any order. The report sorts the pointers.
  struct heapx_sum **sorted;
  size_t len;
  struct mprof_heapx_estimate total;
  struct lives all_lives;
};
struct heapx_copy {
  // Used if the program requests this profile before the process ends.
  struct mprof_heap_copy own;
  // The address of `own`, or of the copy of the heap profile.
  const struct mprof_heap_copy *heap;
  struct heapx_groups stacks;
};

// --- lifetimes ---

// Returns the estimates for sample s. x: the heapx counters of its bucket.
static struct lives lives_of(const struct mprof_mem_sample *s,
                             const struct mprof_heapx_sample *x) {
  struct lives l = {0};
  if (x->lives == NULL)
    return l;
  const uint64_t factor = mprof_scale_factor(s->bucket->size, s->bucket->rate);
  const uint64_t ns = atomic_load_explicit(&x->lives->ns, memory_order_relaxed);
  uint64_t sampled = 0;
  for (int i = 0; i < MPROF_HEAPX_LIVES; i++) {
    sampled += atomic_load_explicit(&x->lives->n[i], memory_order_relaxed);
    // The sum of the rounded numbers is the rounded sum.
    const int64_t sum = mprof_scale_up(sampled, 1, factor);
    l.n[i] = sum - l.count;
    l.count = sum;
  }
  l.ns = mprof_scale_up(ns, 1, factor);
  return l;
}

static void add_lives(struct lives *sum, const struct lives *l) {
  sum->ns += l->ns;
  sum->count += l->count;
  for (int i = 0; i < MPROF_HEAPX_LIVES; i++)
    sum->n[i] += l->n[i];
}

// Returns the power of 2 in nanoseconds that bounds the lifetimes of element i.
static int64_t bound_of(int i) { return INT64_C(2) << i; }

// Returns a bound that at least 99 % of the lifetimes are below.
static int64_t bound_of_most(const struct lives *l) {
  int64_t count = l->n[0];
  int i = 0;
  while (i < MPROF_HEAPX_LIVES - 1 && count < l->count - l->count / 100)
    count += l->n[++i];
  return bound_of(i);
}

// --- sums by stack ---

// Returns whether the profile shows the estimate e, because e has a value other
// than 0.
static bool has_any(const struct mprof_heapx_estimate *e) {
  return e->temporary_objects != 0 || e->in_place != 0 || e->moved != 0 ||
         e->alloc_slack_bytes != 0;
}

static void add_heapx(struct mprof_heapx_estimate *sum,
                      const struct mprof_heapx_estimate *e) {
  sum->temporary_objects += e->temporary_objects;
  sum->temporary_bytes += e->temporary_bytes;
  sum->in_place += e->in_place;
  sum->moved += e->moved;
  sum->copied_bytes += e->copied_bytes;
  sum->alloc_slack_bytes += e->alloc_slack_bytes;
  sum->inuse_slack_bytes += e->inuse_slack_bytes;
}

// Groups the samples of s by stack. Skips samples whose values are all 0.
// Returns 0 or -ENOMEM.
static int make_groups(struct heapx_groups *g,
                       const struct mprof_mem_snapshot *s) {
  *g = (struct heapx_groups){0};
  const size_t len = s->heapx != NULL ? s->len : 0;
  int error = mprof_groups_begin(&g->groups, len, sizeof(struct heapx_sum),
                                 MPROF_BY_STACK);
  if (error != 0)
    return error;
  for (size_t i = 0; i < len; i++) {
    struct mprof_heapx_estimate e =
        mprof_heapx_scale(&s->samples[i], &s->heapx[i]);
    const struct lives l = lives_of(&s->samples[i], &s->heapx[i]);
    if (!has_any(&e) && l.count == 0)
      continue;
    const struct mprof_bucket *b = s->samples[i].bucket;
    struct heapx_sum *sum = mprof_groups_at(&g->groups, b);
    if (sum->bucket == NULL)
      sum->bucket = b;
    add_heapx(&sum->sum, &e);
    add_heapx(&g->total, &e);
    add_lives(&sum->lives, &l);
    add_lives(&g->all_lives, &l);
  }
  mprof_groups_end(&g->groups);
  g->sorted = (struct heapx_sum **)g->groups.sorted;
  g->len = g->groups.len;
  return 0;
}

// --- report ---

static void put_temporary(struct mprof_report *w,
                          const struct mprof_heapx_estimate *e) {
  mprof_report_things(w, e->temporary_objects, "block");
  mprof_report_put(w, ", ");
  mprof_report_bytes(w, e->temporary_bytes);
}

static void put_moves(struct mprof_report *w,
                      const struct mprof_heapx_estimate *e) {
  mprof_report_bytes(w, e->copied_bytes);
  mprof_report_put(w, " copied by ");
  mprof_report_things(w, e->moved, "move");
  mprof_report_put(w, ", ");
  mprof_report_things(w, e->in_place, "resize");
  mprof_report_put(w, " in place");
}

static void put_slack(struct mprof_report *w,
                      const struct mprof_heapx_estimate *e) {
  mprof_report_bytes(w, e->inuse_slack_bytes);
  mprof_report_put(w, " in use, ");
  mprof_report_bytes(w, e->alloc_slack_bytes);
  mprof_report_put(w, " in total");
}

static void put_lives(struct mprof_report *w, const struct lives *l) {
  mprof_report_time(w, l->ns / l->count);
  mprof_report_put(w, " on average, 99 % less than ");
  mprof_report_time(w, bound_of_most(l));
}

static void put_totals(struct mprof_report *w, const struct heapx_groups *g,
                       int64_t blocks) {
  const struct mprof_heapx_estimate *e = &g->total;
  mprof_report_put(w, "\nTemporary blocks, resizes and slack (heapx profile)\n"
                      "\nTemporary: ");
  put_temporary(w, e);
  mprof_report_put(w, "; ");
  mprof_report_percent(w, e->temporary_objects, blocks);
  mprof_report_put(w, " of all blocks\nResized:   ");
  put_moves(w, e);
  mprof_report_put(w, "\nSlack:     ");
  if (mprof_place.c || mprof_place.cxx)
    put_slack(w, e);
  else
    mprof_report_put(w, "unknown: the allocator has no malloc_usable_size");
  mprof_report_put(w, "\n");
  if (g->all_lives.count == 0)
    return;
  mprof_report_put(w, "Lifetime:  ");
  put_lives(w, &g->all_lives);
  mprof_report_put(w, "\n");
}

// A list of stacks in the report. The list is sorted by the value `key`,
// largest first.
struct list {
  const char *title;
  int64_t (*key)(const struct mprof_heapx_estimate *);
  bool (*comes_before)(const void *, const void *);
  void (*put)(struct mprof_report *, const struct mprof_heapx_estimate *);
};

#define ORDER(name, field)                                                     \
  static int64_t name(const struct mprof_heapx_estimate *e) {                  \
    return e->field;                                                           \
  }                                                                            \
  static bool has_more_##name(const void *a, const void *b) {                  \
    const struct heapx_sum *x = a, *y = b;                                     \
    return name(&x->sum) > name(&y->sum);                                      \
  }
ORDER(temporary, temporary_objects)
ORDER(copied, copied_bytes)
ORDER(slack, inuse_slack_bytes)

static void put_list(struct mprof_report *w, const struct heapx_groups *g,
                     const struct list *l) {
  mprof_sort((void **)g->sorted, g->len, l->comes_before);
  for (size_t i = 0; i < g->len && i < mprof_flags.report_top; i++) {
    const struct mprof_heapx_estimate *e = &g->sorted[i]->sum;
    if (l->key(e) <= 0)
      break;
    if (i == 0)
      mprof_report_put(w, l->title);
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)i + 1, ". ");
    l->put(w, e);
    mprof_report_put(w, "; ");
    mprof_report_percent(w, l->key(e), l->key(&g->total));
    if (l->put == put_temporary && g->sorted[i]->lives.count != 0) {
      mprof_report_put(w, "; lifetime ");
      put_lives(w, &g->sorted[i]->lives);
    }
    mprof_report_put(w, "\n");
    mprof_report_stack(w, g->sorted[i]->bucket);
  }
}

static void report(struct mprof_report *w, const void *copy) {
  static const struct list lists[] = {
      {"\nStacks with the most temporary blocks\n", temporary,
       has_more_temporary, put_temporary},
      {"\nStacks with the most bytes copied\n", copied, has_more_copied,
       put_moves},
      {"\nStacks with the most slack in use (usable bytes beyond the requested "
       "size)\n",
       slack, has_more_slack, put_slack}};
  const struct heapx_copy *c = copy;
  put_totals(w, &c->stacks, c->heap->stacks.total.alloc_objects);
  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
    put_list(w, &c->stacks, &lists[i]);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct heapx_copy *c = copy;
  const struct mprof_heapx_estimate *e = &c->stacks.total;
  mprof_report_put(w, "SUMMARY: MProf: heapx: ");
  mprof_report_plain(w, e->temporary_objects, " temporary blocks, ");
  mprof_report_plain(w, e->temporary_bytes, " bytes, ");
  mprof_report_plain(w, e->in_place, " resizes in place, ");
  mprof_report_plain(w, e->moved, " moves, ");
  mprof_report_plain(w, e->copied_bytes, " bytes copied, ");
  mprof_report_plain(w, e->inuse_slack_bytes, " bytes of slack in use, ");
  mprof_report_plain(w, e->alloc_slack_bytes, " ever\n");
}

// --- legacy text ---

// No legacy format has as many columns as this profile. Therefore each record
// has only one value, the number of temporary blocks. A comment line before it
// has all values, for people. The values are already scaled, because readers do
// not scale profiles of counts. (Go: printCountProfile)

static void put_value(struct mprof_outfile *f, const char *name, int64_t n) {
  mprof_outfile_text(f, name);
  mprof_outfile_dec(f, (uint64_t)n);
}

static void put_stack(struct mprof_legacy *w, const struct heapx_sum *s) {
  struct mprof_outfile *f = w->out;
  put_value(f, "# temporary_objects=", s->sum.temporary_objects);
  put_value(f, " temporary_space=", s->sum.temporary_bytes);
  put_value(f, " in_place=", s->sum.in_place);
  put_value(f, " moved=", s->sum.moved);
  put_value(f, " copied_space=", s->sum.copied_bytes);
  put_value(f, " alloc_slack_space=", s->sum.alloc_slack_bytes);
  put_value(f, " slack_space=", s->sum.inuse_slack_bytes);
  mprof_outfile_text(f, "\n");
  mprof_legacy_count(w, (uint64_t)s->sum.temporary_objects, s->bucket);
}

static void put_all(struct mprof_legacy *w, const void *groups) {
  const struct heapx_groups *g = groups;
  mprof_legacy_total(w, "heapx", (uint64_t)g->total.temporary_objects);
  for (size_t i = 0; i < g->len && w->out->error == 0; i++)
    put_stack(w, g->sorted[i]);
  mprof_legacy_stats(w);
}

static int write_text(struct mprof_outfile *f, const struct heapx_groups *g) {
  mprof_sort((void **)g->sorted, g->len, has_more_temporary);
  return mprof_legacy_write(f, g->len > 0, put_all, g);
}

// --- pprof ---

// The values of a sample; see write_pprof.
enum { FREED = 7, LIFETIME, VALUES };
#define KEYS {"bytes", "heap_rate", "lifetime", "nanoseconds"}
_Static_assert(VALUES <= MPROF_PPROF_TYPES, "pprof.h limits the values");

// Writes the numbers of freed blocks by lifetime: a sample for each number,
// with the bound of the lifetimes as a label.
static void put_by_lifetime(struct mprof_pprof *w,
                            const struct mprof_mem_snapshot *m,
                            const struct mprof_bucket *b, const struct lives *l,
                            const uint64_t *keys) {
  for (int i = 0; i < MPROF_HEAPX_LIVES; i++) {
    const int64_t values[VALUES] = {[FREED] = l->n[i]};
    if (l->n[i] != 0)
      mprof_heap_put_sample(w, m, b, values, keys,
                            &(struct mprof_pprof_label){.key = keys[2],
                                                        .num = bound_of(i),
                                                        .unit = keys[3]});
  }
}

static void put_sample(struct mprof_pprof *w, const void *snapshot, size_t i,
                       const uint64_t *keys) {
  const struct mprof_mem_snapshot *m = snapshot;
  const struct mprof_mem_sample *s = &m->samples[i];
  if (m->heapx == NULL)
    return;
  struct mprof_heapx_estimate e = mprof_heapx_scale(s, &m->heapx[i]);
  const struct lives l = lives_of(s, &m->heapx[i]);
  if (!has_any(&e) && l.count == 0)
    return;
  const int64_t values[VALUES] = {e.temporary_objects,
                                  e.temporary_bytes,
                                  e.in_place,
                                  e.moved,
                                  e.copied_bytes,
                                  e.alloc_slack_bytes,
                                  e.inuse_slack_bytes,
                                  0,
                                  l.ns};
  mprof_heap_put_sample(w, m, s->bucket, values, keys, NULL);
  put_by_lifetime(w, m, s->bucket, &l, keys);
}

static int write_pprof(struct mprof_outfile *f,
                       const struct mprof_mem_snapshot *s) {
  const struct mprof_pprof_head head = {
      .types = {{"temporary_objects", "count"},
                {"temporary_space", "bytes"},
                {"in_place", "count"},
                {"moved", "count"},
                {"copied_space", "bytes"},
                {"alloc_slack_space", "bytes"},
                {"slack_space", "bytes"},
                {"freed_objects", "count"},
                {"lifetime", "nanoseconds"}},
      .types_len = VALUES,
      .period_type = {"space", "bytes"},
      .period = s->rate,
      .default_type = "temporary_objects",
      .time_ns = s->time_ns,
      .rate_name = "heap_rate",
      .rate = s->rate,
      .drops_allocators = true};
  return mprof_pprof_write(
      f, &head, &(struct mprof_pprof_samples){s, s->len, KEYS, put_sample});
}

// --- the kind ---

static bool is_offered(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_flags.heapx;
}

static int group(void *copy) {
  struct heapx_copy *c = copy;
  return make_groups(&c->stacks, &c->heap->snapshot);
}

static int take(const struct mprof_profile_request *r) {
  struct heapx_copy *c = r->copy;
  if (r->copies != NULL) {
    c->heap = r->copies[MPROF_PROFILE_heap];
    return 0;
  }
  c->heap = &c->own;
  struct mprof_mem_snapshot *own = &c->own.snapshot;
  int error = mprof_mem_snapshot_take(own, mprof_cycle_dump_ends_it(false));
  if (error == 0)
    error = mprof_estimate_objects(own);
  return error == 0 && r->form == MPROF_FORM_TEXT ? group(c) : error;
}

static void release(void *copy) {
  struct heapx_copy *c = copy;
  mprof_groups_free(&c->stacks.groups);
  mprof_mem_snapshot_free(&c->own.snapshot);
}

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct heapx_copy *c = r->copy;
  return r->form == MPROF_FORM_TEXT ? write_text(f, &c->stacks)
                                    : write_pprof(f, &c->heap->snapshot);
}

static bool is_shown(const void *copy, void *const *copies) {
  const struct heapx_copy *c = copy;
  (void)copies;
  return c->heap->snapshot.heapx != NULL ||
         (mprof_flags.heapx && mprof_flags.heap);
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct heapx_copy *c = copy;
  (void)part;
  mprof_put_things_and_stacks(t, (uint64_t)c->stacks.total.temporary_objects,
                              "temporary block", c->stacks.len);
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_bucket_count(MPROF_BUCKET_MEM);
}

const struct mprof_profile_kind mprof_kind_heapx = {
    .copy_bytes = sizeof(struct heapx_copy),
    .last_form = MPROF_FORM_TEXT,
    .is_offered = is_offered,
    .take = take,
    .free = release,
    .write = write,
    .count = count,
    .group = group,
    .is_shown = is_shown,
    .put_numbers = put_numbers,
    .sums_up_report = true,
    .report = report,
    .report_line = report_line,
};
