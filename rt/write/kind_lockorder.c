// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile lockorder, which shows cycles of locks that threads have taken in
// different orders (lock_graph.h). For each lock of a cycle it has two samples:
// the stack of a thread that took the lock, and the stack of the same thread
// that then took the next lock of the cycle.

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/hooked.h"
#include "lock_wait/lock_graph.h"
#include "lock_wait/lock_order.h"
#include "options/flags.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

#include <errno.h>

struct copy {
  int64_t time_ns;
  size_t len;
  struct mprof_order_cycle *v; // MPROF_ORDER_CYCLES elements; NULL if len is 0
};

static const char *word_of(const struct mprof_order_lock *l) {
  return l->kind == MPROF_KIND_mutex    ? "mutex "
         : l->kind == MPROF_KIND_rwlock ? "rwlock "
         : l->kind == MPROF_KIND_spin   ? "spin lock "
                                        : "lock ";
}

// Returns an empty stack if the runtime had no memory for the stack.
static const struct mprof_bucket *stack_of(const struct mprof_order_lock *l) {
  static const struct mprof_bucket none;
  const struct mprof_bucket *b = mprof_persistent_pointer(l->stack);
  return b != NULL ? b : &none;
}

// --- report ---

static void put_taken(struct mprof_report *w, const char *before,
                      const struct mprof_order_lock *l) {
  char text[MPROF_LOCK_NAME + 32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_lock_label(&t, l->lock);
  mprof_report_put(w, before);
  mprof_report_put(w, word_of(l));
  mprof_report_put(w, text);
  if (l->how & MPROF_TAKES_SHARED)
    mprof_report_put(w, " for reading");
  mprof_report_put(w, "\n");
  mprof_report_stack(w, stack_of(l));
}

static void put_cycle(struct mprof_report *w, const struct copy *s, size_t i) {
  const struct mprof_order_cycle *c = &s->v[i];
  mprof_report_put(w, "\nCycle ");
  mprof_report_plain(w, (int64_t)i + 1, " of ");
  mprof_report_plain(w, (int64_t)s->len, ": ");
  mprof_report_count(w, c->len, " locks");
  if (c->others > 0) {
    mprof_report_put(w, ", and ");
    mprof_report_things(w, (int64_t)c->others, "cycle");
    mprof_report_put(w, " of other locks with the same stacks");
  }
  mprof_report_put(w, "\n");
  for (uint32_t k = 0; k < c->len; k++) {
    mprof_report_put(w, "\nthread ");
    mprof_report_plain(w, c->edges[k].tid, "\n");
    put_taken(w, "  took ", &c->edges[k].from);
    put_taken(w, "  and then ", &c->edges[k].to);
  }
}

static void report(struct mprof_report *w, const void *copy) {
  const struct copy *s = copy;
  mprof_report_put(w, "\nOrders of locks that may lead to a deadlock\n\n"
                      "Total:     ");
  mprof_report_things(w, (int64_t)s->len, "cycle");
  mprof_report_put(w, "\n");
  for (size_t i = 0; i < s->len; i++)
    put_cycle(w, s, i);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct copy *s = copy;
  mprof_report_put(w, "SUMMARY: MProf: lockorder: ");
  mprof_report_plain(w, (int64_t)s->len, " cycles\n");
}

static void put_list(struct mprof_report *w, const void *copy) {
  const struct copy *s = copy;
  mprof_report_head(w, "lock orders", s->time_ns);
  report(w, s);
  mprof_report_put(w, "\n");
  report_line(w, s);
}

static int write_list(struct mprof_outfile *f, const struct copy *s) {
  return mprof_report_write(f, mprof_flags.symbolize && s->len > 0, report,
                            put_list, s);
}

// --- samples ---

// The samples of the profile. Sample i of a cycle is that of the lock which
// edge i / 2 leads from, if i is even, or leads to.
struct samples {
  const struct copy *s;
  size_t len;
};

struct sample {
  size_t cycle, edge;
  const struct mprof_order_lock *lock;
  const struct mprof_cycle_edge *of;
  bool is_taken;
};

static struct samples samples_of(const struct copy *s) {
  struct samples x = {.s = s};
  for (size_t i = 0; i < s->len; i++)
    x.len += 2 * s->v[i].len;
  return x;
}

static struct sample sample_at(const struct copy *s, size_t i) {
  struct sample x = {0};
  for (; i >= 2 * s->v[x.cycle].len; x.cycle++)
    i -= 2 * s->v[x.cycle].len;
  x.edge = i / 2;
  x.is_taken = i % 2 != 0;
  x.of = &s->v[x.cycle].edges[x.edge];
  x.lock = x.is_taken ? &x.of->to : &x.of->from;
  return x;
}

static void put_text(struct mprof_legacy *w, const void *samples) {
  const struct samples *x = samples;
  mprof_legacy_total(w, "lockorder", x->len);
  for (size_t i = 0; i < x->len; i++)
    mprof_legacy_count(w, 1, stack_of(sample_at(x->s, i).lock));
  mprof_legacy_stats(w);
}

// Indices of the label keys in mprof_pprof_samples.keys.
enum { CYCLE, STEP, LOCK, KIND, OTHERS };

static void put_sample(struct mprof_pprof *w, const void *samples, size_t i,
                       const uint64_t *keys) {
  const struct samples *all = samples;
  const struct sample x = sample_at(all->s, i);
  const int64_t values[] = {1};
  const uint64_t others = all->s->v[x.cycle].others;
  char cycle[32], step[64], lock[MPROF_LOCK_NAME + 32];
  struct mprof_text number = MPROF_TEXT(cycle), at = MPROF_TEXT(step),
                    name = MPROF_TEXT(lock);
  mprof_text_dec(&number, x.cycle + 1);
  mprof_text_dec(&at, x.edge + 1);
  mprof_text_str(&at, " of ");
  mprof_text_dec(&at, all->s->v[x.cycle].len);
  mprof_text_str(&at, x.is_taken ? ": takes" : ": holds");
  mprof_lock_label(&name, x.lock->lock);
  const struct mprof_pprof_label labels[] = {
      {.key = keys[CYCLE], .str = mprof_pprof_string(w, cycle)},
      {.key = keys[STEP], .str = mprof_pprof_string(w, step)},
      {.key = keys[LOCK], .str = mprof_pprof_string(w, lock)},
      {.key = keys[KIND],
       .str = mprof_pprof_string(w, mprof_kind_name(x.lock->kind))},
      {.key = keys[OTHERS], .num = (int64_t)others}};
  mprof_pprof_sample(w, stack_of(x.lock), values, labels,
                     sizeof(labels) / sizeof(labels[0]) - (others == 0));
}

static int write_pprof(struct mprof_outfile *f, const struct samples *x) {
  const struct mprof_pprof_head head = {.types = {{"lockorder", "count"}},
                                        .types_len = 1,
                                        .period_type = {"lockorder", "count"},
                                        .period = 1,
                                        .time_ns = x->s->time_ns,
                                        .empty_stack = "[unknown stack]"};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){x,
                                    x->len,
                                    {[CYCLE] = "cycle",
                                     [STEP] = "step",
                                     [LOCK] = "lock",
                                     [KIND] = "kind",
                                     [OTHERS] = "other_cycles"},
                                    put_sample});
}

// --- the kind ---

static const size_t bytes =
    MPROF_ORDER_CYCLES * sizeof(struct mprof_order_cycle);

static int take(const struct mprof_profile_request *r) {
  struct copy *s = r->copy;
  s->time_ns = mprof_sys_realtime_ns();
  if (mprof_graph_cycles_len() == 0)
    return 0;
  s->v = mprof_os_map(bytes);
  if (s->v == NULL)
    return -ENOMEM;
  s->len = mprof_graph_cycles(s->v);
  return 0;
}

static void release(void *copy) {
  struct copy *s = copy;
  if (s->v != NULL)
    mprof_os_unmap(s->v, bytes);
}

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct copy *s = r->copy;
  const struct samples x = samples_of(s);
  return r->form == MPROF_FORM_PPROF ? write_pprof(f, &x)
         : r->form == MPROF_FORM_TEXT
             ? mprof_legacy_write(f, x.len > 0, put_text, &x)
             : write_list(f, s);
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_graph_cycles_len();
}

static bool is_on(void) { return mprof_flags.lock_order; }

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return is_on(); // an empty profile shows that there is no cycle
}

static bool has_stacks(const void *copy) {
  const struct copy *s = copy;
  return s->len > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct copy *s = copy;
  (void)part;
  mprof_put_things(t, s->len, "cycle");
  mprof_text_str(t, " of locks");
}

const struct mprof_profile_kind mprof_kind_lockorder = {
    .copy_bytes = sizeof(struct copy),
    .last_form = MPROF_FORM_LIST,
    .is_offered = has_data,
    .take = take,
    .free = release,
    .write = write,
    .count = count,
    .has_data = has_data,
    .is_on = is_on,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
    .report = report,
    .report_line = report_line,
};
