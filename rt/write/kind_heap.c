// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profiles heap, allocs, peak and main, which show live and allocated
// blocks. Readers of allocs show the allocated bytes first. peak is the heap
// profile of the moment when the most memory was in use (option peak), main
// that of the end of main (option main_profile). The report has totals, the
// stacks with the most bytes in use, and the stacks with the most bytes
// allocated.

#include "write/kinds.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/curve.h"
#include "bucket/peak.h"
#include "file/outfile.h"
#include "heap/beneath.h"
#include "options/flags.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/sort.h"
#include "sys/stats.h"
#include "thread/proc_threads.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

#include <errno.h>

// --- report ---

const char *mprof_heap_groups_why_none(const struct mprof_heap_groups *g,
                                       uint64_t rate) {
  if (g->samples != 0)
    return NULL;
  if (!mprof_flags.heap)
    return "heap=0";
  if (rate == 0)
    return "heap_rate=0";
  if (mprof_flags.stack_depth == 0)
    return "stack_depth=0";
  if (mprof_stat_get(MPROF_STAT_no_memory) != 0)
    return "the profiler ran out of memory";
  // In libmprof_preload.so, and in programs that were linked with the
  // interceptors, allocations of all code are counted.
  if (mprof_intercepted.c)
    return rate == 1 ? "the program allocated nothing"
                     : "the program allocated nothing, or too little to be "
                       "sampled";
  if (rate == 1)
    return "no code compiled with -fmprof allocated memory";
  return "code compiled with -fmprof allocated nothing, or too little to be "
         "sampled";
}

// Writes a number of bytes and a number of blocks, such as "100 bytes in 2
// blocks".
static void put_blocks(struct mprof_report *w, int64_t bytes, int64_t blocks) {
  mprof_report_bytes(w, bytes);
  mprof_report_put(w, " in ");
  mprof_report_count(w, blocks, blocks == 1 ? " block" : " blocks");
}

// Returns whether the rate changed between samples of the snapshot.
static bool has_other_rates(const struct mprof_mem_snapshot *s) {
  for (size_t i = 0; i < s->len; i++)
    if (s->samples[i].allocs != 0 && s->samples[i].bucket->rate != s->rate)
      return true;
  return false;
}

static void put_rate(struct mprof_report *w,
                     const struct mprof_mem_snapshot *s) {
  mprof_report_put(w, "Rate:      ");
  if (has_other_rates(s)) {
    mprof_report_count(
        w, (int64_t)s->rate,
        " now; some samples were taken at another rate, so figures with a "
        "standard error are estimates\n");
  } else if (s->rate == 0) {
    mprof_report_put(w, "0: no block is sampled\n");
  } else if (s->rate == 1) {
    mprof_report_put(w, "1, every block is counted\n");
  } else {
    mprof_report_put(w, "one sample every ");
    mprof_report_count(w, (int64_t)s->rate,
                       " bytes on average; the figures are estimates\n");
  }
}

static void put_totals(struct mprof_report *w,
                       const struct mprof_mem_snapshot *s,
                       const struct mprof_heap_groups *g) {
  mprof_report_put(w, "\nIn use:    ");
  put_blocks(w, g->total.inuse_bytes, g->total.inuse_objects);
  mprof_report_error(w, g->variance.inuse_bytes);
  if (g->total.inuse_bytes == 0 && s->rate > 1)
    mprof_report_put(w, " (of those that sampling has counted; heap_rate=1 "
                        "counts all)");
  mprof_report_put(w, "\nAllocated: ");
  put_blocks(w, g->total.alloc_bytes, g->total.alloc_objects);
  mprof_report_error(w, g->variance.alloc_bytes);
  mprof_report_put(w, "\nSamples:   ");
  mprof_report_count(w, (int64_t)g->samples, " allocated, ");
  mprof_report_count(w, (int64_t)g->sample_frees, " freed, ");
  mprof_report_things(w, (int64_t)g->len, "stack");
  mprof_report_put(w, "\n");
  if (mprof_cycle_is_missing())
    mprof_report_put(
        w, "Cycles:    strict_cycles=1, but the program never called "
           "mprof_next_cycle, so events after the first profile are missing\n");
  else if (mprof_cycle_as_of() == MPROF_CYCLE_COLLECTOR)
    mprof_report_put(w, "Cycles:    the figures are as of the last garbage "
                        "collection\n");
  else if (mprof_cycle_as_of() == MPROF_CYCLE_PROGRAM)
    mprof_report_put(w, "Cycles:    strict_cycles=1: the figures are as of the "
                        "last mprof_next_cycle\n");
  const char *why = mprof_heap_groups_why_none(g, s->rate);
  if (why != NULL) {
    mprof_report_put(w, "Nothing was sampled: ");
    mprof_report_put(w, why);
    mprof_report_put(w, "\n");
  }
}

static bool has_more_in_use(const void *a, const void *b) {
  const struct mprof_heap_sum *x = a, *y = b;
  return x->sum.inuse_bytes > y->sum.inuse_bytes;
}

static bool has_more_allocated(const void *a, const void *b) {
  const struct mprof_heap_sum *x = a, *y = b;
  return x->sum.alloc_bytes > y->sum.alloc_bytes;
}

// Writes how many stacks the list of the report omits: the stacks of g from
// index `from` on, without stacks that have 0 bytes.
// in_use: true: counts the bytes in use; false: counts the allocated bytes.
static void put_others(struct mprof_report *w,
                       const struct mprof_heap_groups *g, bool in_use,
                       size_t from) {
  int64_t others = 0;
  for (size_t i = from; i < g->len; i++)
    others += (in_use ? g->sorted[i]->sum.inuse_bytes
                      : g->sorted[i]->sum.alloc_bytes) > 0;
  if (others == 0)
    return;
  mprof_report_put(w, "\nand ");
  mprof_report_things(w, others, "stack");
  mprof_report_put(w, " more (raise report_top to see them)\n");
}

static void put_top(struct mprof_report *w, const struct mprof_mem_snapshot *s,
                    const struct mprof_heap_groups *g, bool in_use) {
  mprof_sort((void **)g->sorted, g->len,
             in_use ? has_more_in_use : has_more_allocated);
  size_t top =
      mprof_flags.report_top < g->len ? mprof_flags.report_top : g->len;
  if (top == 0)
    return;
  if ((in_use ? g->sorted[0]->sum.inuse_bytes
              : g->sorted[0]->sum.alloc_bytes) <= 0)
    return;
  mprof_report_put(w, in_use ? "\nStacks with the most bytes in use\n"
                             : "\nStacks with the most bytes allocated\n");
  for (size_t i = 0; i < top; i++) {
    const struct mprof_mem_estimate *e = &g->sorted[i]->sum;
    int64_t bytes = in_use ? e->inuse_bytes : e->alloc_bytes;
    if (bytes <= 0)
      break;
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)i + 1, ". ");
    put_blocks(w, bytes, in_use ? e->inuse_objects : e->alloc_objects);
    mprof_report_put(w, ", ");
    mprof_report_percent(w, bytes,
                         in_use ? g->total.inuse_bytes : g->total.alloc_bytes);
    // The number of samples and the error show how reliable the estimate is.
    const struct mprof_heap_sum *of = g->sorted[i];
    const mprof_u128 variance =
        in_use ? of->variance.inuse_bytes : of->variance.alloc_bytes;
    if (s->rate > 1 || variance > 0) {
      mprof_report_put(w, ", ");
      mprof_report_things(
          w, (int64_t)(in_use ? of->inuse_samples : of->alloc_samples),
          "sample");
      mprof_report_error(w, variance);
    }
    mprof_report_put(w, "\n");
    mprof_report_labels(w, &g->sorted[i]->labels);
    mprof_report_stack(w, g->sorted[i]->bucket);
  }
  put_others(w, g, in_use, top);
}

static void report(struct mprof_report *w, const void *copy) {
  const struct mprof_heap_copy *c = copy;
  put_rate(w, &c->snapshot);
  put_totals(w, &c->snapshot, &c->stacks);
  put_top(w, &c->snapshot, &c->stacks, true);
  put_top(w, &c->snapshot, &c->stacks, false);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct mprof_heap_copy *c = copy;
  const struct mprof_heap_groups *g = &c->stacks;
  const struct mprof_mem_estimate *e = &g->total;
  mprof_report_put(w, "SUMMARY: MProf: ");
  mprof_report_plain(w, e->inuse_bytes, " bytes in ");
  mprof_report_plain(w, e->inuse_objects, " blocks in use, ");
  mprof_report_plain(w, e->alloc_bytes, " bytes in ");
  mprof_report_plain(w, e->alloc_objects, " blocks allocated, ");
  mprof_report_plain(w, (int64_t)g->len, " stacks, ");
  mprof_report_plain(w, (int64_t)g->samples, " samples at rate ");
  mprof_report_plain(w, (int64_t)c->snapshot.rate,
                     has_other_rates(&c->snapshot) ? " and at other rates\n"
                                                   : "\n");
}

// --- legacy text ---
//
// Readers scale the numbers of the text by the sampling rate in the first line.
// The text therefore has the numbers of sampled blocks, if all samples have the
// same rate. Otherwise the text has the estimated numbers of all blocks, and
// the first line has the rate 1, with which readers do not scale. (Go:
// writeHeapInternal with debug=1)

struct text {
  const struct mprof_mem_sample **sorted;
  size_t len;
  uint64_t rate;     // sampling rate for the first line
  bool is_estimated; // the samples have different rates
};

static bool uses_more(const void *a, const void *b) {
  const struct mprof_mem_sample *x = a, *y = b;
  return mprof_mem_inuse(x) * x->bucket->size >
         mprof_mem_inuse(y) * y->bucket->size;
}

// Stores the four numbers of a record: objects and bytes in use, objects and
// bytes allocated.
static void get_counts(const struct text *x, const struct mprof_mem_sample *s,
                       uint64_t counts[4]) {
  if (x->is_estimated) {
    const struct mprof_mem_estimate e = mprof_mem_scale(s);
    counts[0] = (uint64_t)e.inuse_objects;
    counts[1] = (uint64_t)e.inuse_bytes;
    counts[2] = (uint64_t)e.alloc_objects;
    counts[3] = (uint64_t)e.alloc_bytes;
    return;
  }
  counts[0] = mprof_mem_inuse(s);
  counts[1] = mprof_mem_inuse(s) * s->bucket->size;
  counts[2] = s->allocs;
  counts[3] = s->allocs * s->bucket->size;
}

// Writes the first line, which has the totals and the rate. If the total of
// bytes in use and the total of allocated bytes are equal, readers assume that
// the profile has no allocated bytes. Readers cannot merge such a profile with
// other heap profiles. Therefore this function adds 1 to the total of allocated
// bytes if the totals are equal. Readers use the totals for nothing else. The
// rate in the line is twice the sampling rate, as in the first profiler that
// wrote this format.
static void put_header(struct mprof_outfile *f, const struct text *x) {
  uint64_t total[4] = {0}, counts[4];
  for (size_t i = 0; i < x->len; i++) {
    get_counts(x, x->sorted[i], counts);
    for (int k = 0; k < 4; k++)
      total[k] += counts[k];
  }
  if (total[1] == total[3])
    total[3]++;
  mprof_outfile_text(f, "heap profile: ");
  mprof_legacy_blocks(f, total);
  mprof_outfile_text(f, " heap/");
  mprof_outfile_dec(f, 2 * x->rate);
  mprof_outfile_text(f, "\n");
}

static void put_text(struct mprof_legacy *w, const void *text) {
  const struct text *x = text;
  uint64_t counts[4];
  w->maps_title = "MAPPED_LIBRARIES:";
  put_header(w->out, x);
  for (size_t i = 0; i < x->len && w->out->error == 0; i++) {
    get_counts(x, x->sorted[i], counts);
    mprof_legacy_blocks(w->out, counts);
    mprof_legacy_stack(w, x->sorted[i]->bucket);
  }
  mprof_legacy_stats(w);
  if (x->is_estimated)
    mprof_outfile_text(w->out,
                       "# the numbers are estimates of all blocks, because "
                       "heap_rate changed between the samples\n");
}

// Adds the samples that have events, and finds the rate for the first line.
static void gather(struct text *x, const struct mprof_mem_snapshot *s) {
  x->rate = s->rate;
  for (size_t i = 0; i < s->len; i++) {
    const struct mprof_mem_sample *sample = &s->samples[i];
    if (sample->allocs == 0 && sample->frees == 0)
      continue;
    if (x->len == 0)
      x->rate = sample->bucket->rate;
    x->is_estimated |= sample->bucket->rate != x->rate;
    x->sorted[x->len++] = sample;
  }
  if (x->is_estimated)
    x->rate = 1;
}

static int write_text(struct mprof_outfile *f,
                      const struct mprof_mem_snapshot *s) {
  const size_t size = sizeof(struct text) + s->len * sizeof(void *);
  struct text *x = mprof_os_map(size);
  if (x == NULL)
    return mprof_outfile_fail(f, -ENOMEM);
  x->sorted = (const struct mprof_mem_sample **)(x + 1);
  gather(x, s);
  mprof_sort((void **)x->sorted, x->len, uses_more);
  const int error = mprof_legacy_write(f, s->len > 0, put_text, x);
  mprof_os_unmap(x, size);
  return error;
}

// --- pprof ---
//
// The names, the order and the scaling of the values are those of Go. (Go:
// writeHeapProto)

// The profiles, by their variants in profiles.def.
enum variant { HEAP, ALLOCS, PEAK, MAIN };

static int64_t at_least_0(int64_t v) { return v < 0 ? 0 : v; }

// Subtracts the values of the earlier snapshot from the values of sample i.
// Returns whether a value is left.
static bool subtract_before(int64_t values[4],
                            const struct mprof_mem_snapshot *m, size_t i) {
  const struct mprof_mem_sample *b = mprof_mem_sample_before(m, i);
  if (b != NULL) {
    const struct mprof_mem_estimate e = mprof_mem_scale(b);
    values[0] -= at_least_0(e.alloc_objects);
    values[1] -= at_least_0(e.alloc_bytes);
    values[2] -= m->keeps_inuse ? 0 : at_least_0(e.inuse_objects);
    values[3] -= m->keeps_inuse ? 0 : at_least_0(e.inuse_bytes);
  }
  return values[0] != 0 || values[1] != 0 || values[2] != 0 || values[3] != 0;
}

void mprof_heap_put_sample(struct mprof_pprof *w,
                           const struct mprof_mem_snapshot *m,
                           const struct mprof_bucket *b, const int64_t *values,
                           const uint64_t *keys,
                           const struct mprof_pprof_label *more) {
  enum { BYTES, RATE }; // indices in MPROF_HEAP_KEYS
  struct mprof_pprof_label labels[3];
  size_t n = 0;
  if (b->size != 0)
    labels[n++] =
        (struct mprof_pprof_label){.key = keys[BYTES], .num = (int64_t)b->size};
  if (b->rate != m->rate)
    labels[n++] = (struct mprof_pprof_label){
        .key = keys[RATE], .num = b->rate, .unit = keys[BYTES]};
  if (more != NULL)
    labels[n++] = *more;
  mprof_pprof_sample(w, b, values, labels, n);
}

static void put_sample(struct mprof_pprof *w, const void *snapshot, size_t i,
                       const uint64_t *keys) {
  const struct mprof_mem_snapshot *m = snapshot;
  const struct mprof_mem_sample *s = &m->samples[i];
  if (s->allocs == 0 && s->frees == 0)
    return;
  struct mprof_mem_estimate e = mprof_mem_scale(s);
  int64_t values[] = {at_least_0(e.alloc_objects), at_least_0(e.alloc_bytes),
                      at_least_0(e.inuse_objects), at_least_0(e.inuse_bytes)};
  if (m->before != NULL && !subtract_before(values, m, i))
    return;
  mprof_heap_put_sample(w, m, s->bucket, values, keys, NULL);
}

// Writes the bytes in use over time, such as "inuse_over_time: 2000000 ns,
// KiB: 0 12 7 5": the highest value of each 2 ms, and the present one. Leaves
// out the steps after the snapshot, in which other files were written.
static void put_curve(struct mprof_text *t,
                      const struct mprof_mem_snapshot *s) {
  struct mprof_curve curve;
  const int64_t present = mprof_peak_curve(&curve);
  if (curve.len == 0)
    return;
  const uint64_t step_ns = mprof_clock_ns(mprof_curve_step(&curve));
  const int64_t passed = mprof_sys_realtime_ns() - s->time_ns;
  const uint64_t late = passed > 0 ? (uint64_t)passed / step_ns : 0;
  const unsigned len = late < curve.len ? curve.len - (unsigned)late : 1;
  mprof_text_str(t, "inuse_over_time: ");
  mprof_text_dec(t, step_ns);
  mprof_text_str(t, " ns, KiB:");
  for (unsigned i = 0; i <= len; i++) {
    const int64_t bytes = i < len ? curve.highest[i] : present;
    mprof_text_str(t, " ");
    mprof_text_dec(t, (uint64_t)at_least_0(bytes) >> 10);
  }
}

static int write_pprof(struct mprof_outfile *f,
                       const struct mprof_mem_snapshot *s,
                       enum variant variant) {
  char note[40], over_time[2048];
  struct mprof_text c = MPROF_TEXT(over_time);
  struct mprof_text t = MPROF_TEXT(note);
  if (variant != PEAK && variant != MAIN) {
    // mprof leaks compares this number with the storage that libc keeps for
    // threads.
    mprof_text_str(&t, "threads_now: ");
    mprof_text_dec(&t, mprof_proc_thread_count());
  }
  if (variant == HEAP && s->before == NULL && mprof_peak_is_on())
    put_curve(&c, s);
  const struct mprof_pprof_head head = {
      .types = {{"alloc_objects", "count"},
                {"alloc_space", "bytes"},
                {"inuse_objects", "count"},
                {"inuse_space", "bytes"}},
      .types_len = 4,
      .period_type = {"space", "bytes"},
      .period = s->rate,
      .default_type = variant == ALLOCS ? "alloc_space" : NULL,
      .time_ns = s->time_ns,
      .duration_ns = s->before == NULL ? 0 : s->time_ns - s->before->time_ns,
      .rate_name = "heap_rate",
      .rate = s->rate,
      .moment = variant == PEAK   ? "the peak of the memory in use"
                : variant == MAIN ? "the end of main"
                                  : NULL,
      .note = t.len > 0 ? note : NULL,
      .curve = c.len > 0 ? over_time : NULL,
      .drops_allocators = true};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){s, s->len, MPROF_HEAP_KEYS, put_sample});
}

// --- the kinds ---

static int take(const struct mprof_profile_request *r) {
  struct mprof_heap_copy *c = r->copy;
  int error = mprof_mem_snapshot_take(
      &c->snapshot, mprof_cycle_dump_ends_it(r->copies != NULL));
  return error != 0 ? error : mprof_estimate_objects(&c->snapshot);
}

static void release(void *copy) {
  struct mprof_heap_copy *c = copy;
  mprof_groups_free(&c->stacks.groups);
  mprof_mem_snapshot_free(&c->snapshot);
}

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct mprof_heap_copy *c = r->copy;
  return r->form == MPROF_FORM_TEXT
             ? write_text(f, &c->snapshot)
             : write_pprof(f, &c->snapshot, (enum variant)r->row->variant);
}

static int group(void *copy) {
  struct mprof_heap_copy *c = copy;
  return mprof_heap_groups_make(&c->stacks, &c->snapshot);
}

// Returns whether a block was counted. Every counted block has a bucket.
static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_bucket_first(MPROF_BUCKET_MEM) != NULL;
}

// Returns whether the heap profile is shown. It is shown even without samples,
// so that the output gives the reason. It is hidden only if it has no samples,
// heap profiling is off, and the block or the mutex profile is shown.
static bool is_shown(const void *copy, void *const *copies) {
  const struct mprof_heap_copy *c = copy;
  return (mprof_flags.heap && c->snapshot.rate != 0) || c->stacks.samples > 0 ||
         (!mprof_kind_wait.is_shown(copies[MPROF_PROFILE_block], copies) &&
          !mprof_kind_wait.is_shown(copies[MPROF_PROFILE_mutex], copies));
}

static bool has_stacks(const void *copy) {
  const struct mprof_heap_copy *c = copy;
  return c->snapshot.len > 0;
}

// Appends the numbers of samples and stacks. If there are no samples, appends
// the reason.
static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct mprof_heap_copy *c = copy;
  const char *why = mprof_heap_groups_why_none(&c->stacks, c->snapshot.rate);
  (void)part;
  if (why == NULL) {
    mprof_put_things_and_stacks(t, c->stacks.samples, "sample", c->stacks.len);
    return;
  }
  mprof_put_things(t, c->stacks.samples, "sample");
  mprof_text_str(t, ": ");
  mprof_text_str(t, why);
}

static int write_delta(struct mprof_outfile *f,
                       const struct mprof_profile_request *r, void *before,
                       bool keeps_present) {
  const struct mprof_heap_copy *c = r->copy, *b = before;
  struct mprof_mem_snapshot s = c->snapshot;
  s.before = &b->snapshot;
  s.keeps_inuse = keeps_present;
  return write_pprof(f, &s, (enum variant)r->row->variant);
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_bucket_count(MPROF_BUCKET_MEM);
}

const struct mprof_profile_kind mprof_kind_heap = {
    .copy_bytes = sizeof(struct mprof_heap_copy),
    .last_form = MPROF_FORM_TEXT,
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

static bool peak_is_on(void) { return mprof_peak_is_on() && mprof_flags.heap; }

static int peak_take(const struct mprof_profile_request *r) {
  struct mprof_heap_copy *c = r->copy;
  const int error = mprof_mem_snapshot_take_peak(&c->snapshot);
  return error != 0 ? error : mprof_estimate_objects(&c->snapshot);
}

static void put_samples(struct mprof_text *t, const void *copy, size_t part) {
  const struct mprof_heap_copy *c = copy;
  (void)part;
  mprof_put_things_and_stacks(t, c->stacks.samples, "sample", c->stacks.len);
}

static bool is_peak_offered(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_peak_is_on();
}

const struct mprof_profile_kind mprof_kind_peak = {
    .copy_bytes = sizeof(struct mprof_heap_copy),
    .last_form = MPROF_FORM_TEXT,
    .is_offered = is_peak_offered,
    .take = peak_take,
    .free = release,
    .write = write,
    .count = count,
    .is_on = peak_is_on,
    .group = group,
    .put_numbers = put_samples,
};

static int main_take(const struct mprof_profile_request *r) {
  struct mprof_heap_copy *c = r->copy;
  const int error = mprof_main_end_copy(&c->snapshot);
  return error != 0 ? error : mprof_estimate_objects(&c->snapshot);
}

static bool is_main_offered(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_main_has_ended();
}

const struct mprof_profile_kind mprof_kind_main = {
    .copy_bytes = sizeof(struct mprof_heap_copy),
    .last_form = MPROF_FORM_TEXT,
    .is_offered = is_main_offered,
    .take = main_take,
    .free = release,
    .write = write,
    .is_on = mprof_main_has_ended,
    .group = group,
    .put_numbers = put_samples,
};
