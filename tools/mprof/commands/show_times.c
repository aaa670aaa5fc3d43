// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the times of threads in their states; see show_place.h.

#include "commands/show_place.h"
#include "common/memory.h"
#include "json.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// The kinds of time that have a column, and the sums of all threads.
enum { COLUMNS = 12 };
struct shown {
  const struct times *times;
  unsigned kinds[COLUMNS], count;
  bool has_rest; // the last column adds up the other kinds
  bool has_samples;
  struct thread_times sum;
};

static int by_running(const void *a, const void *b) {
  const struct thread_times *x = *(struct thread_times *const *)a,
                            *y = *(struct thread_times *const *)b;
  if (x->ns[TIME_RUNNING] != y->ns[TIME_RUNNING])
    return x->ns[TIME_RUNNING] < y->ns[TIME_RUNNING] ? 1 : -1;
  return x->g < y->g ? -1 : x->g > y->g;
}

static const struct thread_times **sorted(const struct times *t) {
  const struct thread_times **v = zeroed(t->count, sizeof *v);
  for (size_t i = 0; i < t->count; i++)
    v[i] = &t->threads[i];
  qsort(v, t->count, sizeof *v, by_running);
  return v;
}

// Chooses the columns: the first kinds of states and of waits that have times.
static struct shown shown_of(const struct times *t) {
  struct shown s = {.times = t};
  for (size_t i = 0; i < t->count; i++) {
    s.sum.life += t->threads[i].life;
    s.has_samples |= t->threads[i].sampled.samples != 0;
    for (unsigned k = 0; k < TIME_KINDS; k++)
      s.sum.ns[k] += t->threads[i].ns[k];
  }
  for (unsigned k = 0; k < TIME_KINDS; k++)
    if (k == TIME_RUNNING || s.sum.ns[k]) {
      s.has_rest = s.count == COLUMNS;
      if (!s.has_rest)
        s.kinds[s.count++] = k;
    }
  return s;
}

// A time of 0 is an empty cell.
static void put_time(struct table *table, uint64_t ns) {
  table_cell(table, ns ? quantity_of((int64_t)ns, "nanoseconds").text : "");
}

static void put_row(const struct shown *s, struct table *table,
                    const struct thread_times *thread, const char *name) {
  uint64_t rest = thread->life;
  put_time(table, thread->life);
  for (unsigned i = 0; i < s->count; i++) {
    put_time(table, thread->ns[s->kinds[i]]);
    rest -= thread->ns[s->kinds[i]];
  }
  if (s->has_rest)
    put_time(table, rest);
  table_cell(table, name);
}

// The function with the most samples.
static void put_function(struct table *table, const struct sampled *s) {
  if (!s->samples) {
    table_cell(table, "");
    return;
  }
  const struct sampled_function *f = &s->functions[0];
  const struct quantity share =
      quantity_share((int64_t)f->samples, (int64_t)s->samples);
  char *cell = f->at.function.length
                   ? text_of("%s %.*s", share.text, (int)f->at.function.length,
                             f->at.function.bytes)
                   : text_of("%s 0x%" PRIx64, share.text, f->at.pc);
  table_cell(table, cell);
  free(cell);
}

static void put_thread(const struct shown *s, struct table *table,
                       const struct thread_times *thread) {
  char tid[32] = "";
  if (thread->tid)
    snprintf(tid, sizeof tid, " tid %" PRIu64, thread->tid);
  char *name = text_of("%.*s%sG%" PRIu64 "%s", (int)thread->name.length,
                       thread->name.length ? thread->name.bytes : "",
                       thread->name.length ? " " : "", thread->g, tid);
  put_row(s, table, thread, name);
  free(name);
  if (s->has_samples)
    put_function(table, &thread->sampled);
}

void show_times(const struct times *t, size_t limit) {
  const struct shown s = shown_of(t);
  const struct style style = style_of_output(NULL);
  struct table *table = table_new();
  char *titles[COLUMNS];
  table_column(table, "life", ALIGN_RIGHT);
  for (unsigned i = 0; i < s.count; i++) {
    const struct trace_text name = times_name(t, s.kinds[i]);
    titles[i] = text_of("%.*s", (int)name.length, name.bytes);
    table_column(table, titles[i], ALIGN_RIGHT);
  }
  if (s.has_rest)
    table_column(table, "other", ALIGN_RIGHT);
  table_column(table, "thread", ALIGN_LEFT);
  if (s.has_samples)
    table_column(table, "CPU samples", ALIGN_LEFT);
  const struct thread_times **threads = sorted(t);
  for (size_t i = 0; i < t->count && i < limit; i++)
    put_thread(&s, table, threads[i]);
  if (t->count > 1) {
    char all[64];
    snprintf(all, sizeof all, "all %zu threads", t->count);
    put_row(&s, table, &s.sum, all);
    if (s.has_samples)
      table_cell(table, "");
  }
  table_print(table, stdout, &style);
  table_free(table);
  free(threads);
  for (unsigned i = 0; i < s.count; i++)
    free(titles[i]);
}

// --- JSON ---

void show_times_members(const struct times *t, const uint64_t *ns) {
  static const char *const keys[TIME_WAITS] = {[TIME_RUNNING] = "running_ns",
                                               [TIME_PREEMPTED] =
                                                   "preempted_ns",
                                               [TIME_OFF_CPU] = "off_cpu_ns",
                                               [TIME_RUNNABLE] = "runnable_ns",
                                               [TIME_CALL] = "system_call_ns"};
  bool has_wait = false;
  for (unsigned k = 0; k < TIME_WAITS; k++)
    printf("\"%s\":%" PRIu64 ",", keys[k], ns[k]);
  fputs("\"waits_ns\":{", stdout);
  for (unsigned k = TIME_WAITS; k < t->kinds; k++) {
    if (!ns[k])
      continue;
    fputs(has_wait ? ",\"" : "\"", stdout);
    json_escape(stdout, times_name(t, k));
    printf("\":%" PRIu64, ns[k]);
    has_wait = true;
  }
  putchar('}');
}

void show_times_json(const struct times *t) {
  const struct thread_times **threads = sorted(t);
  for (size_t i = 0; i < t->count; i++) {
    const struct thread_times *thread = threads[i];
    printf("%s{\"g\":%" PRIu64 ",\"tid\":%" PRIu64 ",", i ? ",\n" : "\n",
           thread->g, thread->tid);
    json_text(stdout, "name", thread->name);
    printf(",\"begin_ns\":%" PRIu64 ",\"life_ns\":%" PRIu64 ",", thread->begin,
           thread->life);
    show_times_members(t, thread->ns);
    show_sampled_json(&thread->sampled);
    putchar('}');
  }
  free(threads);
}
