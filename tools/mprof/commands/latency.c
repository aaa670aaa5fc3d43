// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof latency: how long the tasks of a trace took, and what the time of the
// slowest ones went to.

#include "commands/directory.h"
#include "commands/options.h"
#include "commands/sections.h"
#include "commands/show_place.h"
#include "commands/trace_end.h"
#include "common/memory.h"
#include "common/plural.h"
#include "json.h"
#include "open.h"
#include "task_causes.h"
#include "task_latency.h"
#include "terminal/markup.h"
#include "terminal/quantity.h"
#include "terminal/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOWEST = 5, SLOWEST_MAX = 1000, CLASSES = 64, BAR = 40 };

// The tasks of one name.
struct group {
  struct trace_text name;
  size_t ended, open;
  const uint64_t *ns;        // of the ended tasks, ascending
  uint64_t classes[CLASSES]; // class n: from 2^n ns on, less than twice as long
};

struct report {
  struct latency latency;
  uint64_t *ns;
  struct group *groups; // the one with the slowest task first
  size_t group_count, group_capacity;
};

static int compare_texts(struct trace_text a, struct trace_text b) {
  const size_t n = a.length < b.length ? a.length : b.length;
  const int order = n ? memcmp(a.bytes, b.bytes, n) : 0;
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

// By name. The ended tasks of a name come first, the shortest first.
static int by_name(const void *a, const void *b) {
  const struct task *x = *(const struct task *const *)a,
                    *y = *(const struct task *const *)b;
  const int order = compare_texts(x->name, y->name);
  if (order)
    return order;
  if (!x->end_g != !y->end_g)
    return x->end_g ? -1 : 1;
  return (task_length(x) > task_length(y)) - (task_length(x) < task_length(y));
}

static uint64_t longest(const struct group *g) {
  return g->ended ? g->ns[g->ended - 1] : 0;
}

static int by_longest(const void *a, const void *b) {
  const struct group *x = a, *y = b;
  if (longest(x) != longest(y))
    return longest(x) < longest(y) ? 1 : -1;
  return compare_texts(x->name, y->name);
}

static unsigned class_of(uint64_t ns) {
  return ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
}

// Returns the length that `percent` of the ended tasks do not exceed.
static uint64_t percentile(const struct group *g, unsigned percent) {
  const size_t rank = (g->ended * percent + 99) / 100;
  return g->ended ? g->ns[rank ? rank - 1 : 0] : 0;
}

// Divides the tasks into groups.
static void make_groups(struct report *r) {
  const size_t count = r->latency.tasks->count;
  const struct task **tasks = zeroed(count, sizeof *tasks);
  for (size_t i = 0; i < count; i++)
    tasks[i] = &r->latency.tasks->v[i];
  qsort(tasks, count, sizeof *tasks, by_name);
  r->ns = zeroed(count, sizeof *r->ns);
  for (size_t i = 0; i < count; i++) {
    const uint64_t ns = r->ns[i] = task_length(tasks[i]);
    if (!i || !trace_text_equal(tasks[i]->name, tasks[i - 1]->name))
      *APPEND(r->groups, r->group_count, r->group_capacity) =
          (struct group){.name = tasks[i]->name, .ns = &r->ns[i]};
    struct group *g = &r->groups[r->group_count - 1];
    if (!tasks[i]->end_g) {
      g->open++;
      continue;
    }
    g->ended++;
    g->classes[class_of(ns)]++;
  }
  if (r->group_count)
    qsort(r->groups, r->group_count, sizeof *r->groups, by_longest);
  free(tasks);
}

static void clear(struct report *r) {
  latency_clear(&r->latency);
  free(r->groups);
  free(r->ns);
}

// --- text ---

static struct quantity time_text(uint64_t ns) {
  return quantity_of((int64_t)ns, "nanoseconds");
}

// Returns the name of the tasks, which the caller frees.
static char *name_of(const struct group *g) {
  return text_of("%.*s", (int)g->name.length,
                 g->name.length ? g->name.bytes : "");
}

static void put_number(struct table *t, uint64_t number) {
  table_cell(t, quantity_of((int64_t)number, "count").text);
}

// The first `count` groups.
static struct table *table_of_groups(const struct report *r, size_t count) {
  static const unsigned percents[] = {50, 90, 99, 100};
  bool has_open = false;
  struct table *t = table_new();
  for (size_t i = 0; i < r->group_count; i++)
    has_open |= r->groups[i].open != 0;
  table_column(t, "ended", ALIGN_RIGHT);
  if (has_open)
    table_column(t, "not ended", ALIGN_RIGHT);
  table_column(t, "p50", ALIGN_RIGHT);
  table_column(t, "p90", ALIGN_RIGHT);
  table_column(t, "p99", ALIGN_RIGHT);
  table_column(t, "max", ALIGN_RIGHT);
  table_column(t, "task", ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    const struct group *g = &r->groups[i];
    char *name = name_of(g);
    put_number(t, g->ended);
    if (has_open)
      put_number(t, g->open);
    for (size_t k = 0; k < sizeof percents / sizeof *percents; k++)
      table_cell(t, g->ended ? time_text(percentile(g, percents[k])).text : "");
    table_cell(t, name);
    free(name);
  }
  return t;
}

static void print_groups(const struct report *r, const struct style *style) {
  struct table *t = table_of_groups(r, r->group_count);
  table_print(t, stdout, style);
  table_free(t);
}

// Prints how many tasks took how long, in classes that double.
static void print_histogram(const struct group *g, const struct style *style) {
  uint64_t most = 0;
  char bar[BAR + 1];
  struct table *t = table_new();
  putchar('\n');
  table_column(t, "from", ALIGN_RIGHT);
  table_column(t, "tasks", ALIGN_RIGHT);
  char *name = name_of(g);
  table_column(t, name, ALIGN_LEFT);
  for (unsigned i = 0; i < CLASSES; i++)
    most = g->classes[i] > most ? g->classes[i] : most;
  for (unsigned i = class_of(g->ns[0]); i <= class_of(longest(g)); i++) {
    const size_t length = (size_t)((g->classes[i] * BAR + most - 1) / most);
    memset(bar, '#', length);
    bar[length] = '\0';
    table_cell(t, time_text((uint64_t)1 << i).text);
    put_number(t, g->classes[i]);
    table_cell(t, bar);
  }
  table_print(t, stdout, style);
  table_free(t);
  free(name);
}

// Prints who held the lock, unless that is the thread that ended the wait. If
// several threads did so at the same line, prints their sum.
static void print_holders(const struct report *r, const struct task_part *p) {
  enum { LEAST_SHARE = 10 };
  const struct holder_parts *h = &p->held;
  const bool is_waker = h->count == 1 && h->v[0].g == p->waker &&
                        place_key(&h->v[0].at) == place_key(&p->woken_at);
  for (size_t i = 0; i < h->count && !is_waker; i++) {
    const uint64_t key = place_key(&h->v[i].at);
    uint64_t ns = 0;
    size_t threads = 0, earlier = 0;
    for (size_t k = 0; k < h->count; k++) {
      const bool is_same = place_key(&h->v[k].at) == key;
      ns += is_same ? h->v[k].ns : 0;
      threads += is_same;
      earlier += is_same && k < i;
    }
    if (earlier || ns < p->ns / LEAST_SHARE)
      continue;
    printf("\n                     held for %s by ", time_text(ns).text);
    if (threads == 1)
      show_thread(times_of(r->latency.times, h->v[i].g)->name, h->v[i].g);
    else
      printf("%zu threads", threads);
    fputs(" until ", stdout);
    show_place(&h->v[i].at);
  }
}

// Prints the state of a thread, and the lock that it waits for.
static void print_state(const struct report *r, const struct task_part *p) {
  show_text(times_name(r->latency.times, p->kind));
  if (p->lock.length) {
    fputs(" for ", stdout);
    show_text(p->lock);
  }
}

static void print_cause(const struct report *r, const struct task_cause *cause,
                        uint64_t all_ns) {
  const struct task_part *p = cause->largest;
  printf("    %8s %6s  in %zu: ", time_text(cause->ns).text,
         quantity_share((int64_t)cause->ns, (int64_t)all_ns).text,
         cause->tasks);
  if (p->kind == TASK_UNATTENDED) {
    puts("no thread worked for the task");
    return;
  }
  print_state(r, p);
  if (p->at.pc) {
    fputs(" at ", stdout);
    show_place(&p->at);
  }
  if (p->held.count) {
    fputs(", held most by ", stdout);
    show_thread(times_of(r->latency.times, p->held.v[0].g)->name,
                p->held.v[0].g);
    fputs(" until ", stdout);
    show_place(&p->held.v[0].at);
  }
  putchar('\n');
}

// Prints what the slowest tasks have in common, if they are more than those
// that are shown one by one. between: between the head and the rows.
static void print_causes(const struct report *r, const char *between) {
  enum { MOST = 5, LEAST_SHARE = 50 };
  const struct latency *l = &r->latency;
  if (l->studied_count <= l->slowest_count)
    return;
  struct task_causes c = task_causes_find(l);
  printf("\nThe %zu slowest of %zu %ss took %s together%s\n", l->studied_count,
         l->in_window, l->are_regions ? "region" : "task", time_text(c.ns).text,
         between);
  for (size_t i = 0; i < c.count && i < MOST; i++)
    if (c.v[i].ns >= c.ns / LEAST_SHARE)
      print_cause(r, &c.v[i], c.ns);
  task_causes_free(&c);
}

static void print_part(const struct report *r, const struct task_times *w,
                       const struct task_part *p) {
  printf("    %8s %6s  ", time_text(p->ns).text,
         quantity_share((int64_t)p->ns, (int64_t)task_length(w->task)).text);
  if (p->kind == TASK_UNATTENDED) {
    puts("no thread worked for the task");
    return;
  }
  print_state(r, p);
  if (p->count > 1)
    printf(" (%" PRIu64 " times)", p->count);
  fputs(": ", stdout);
  show_thread(times_of(r->latency.times, p->g)->name, p->g);
  if (p->at.pc) {
    fputs(" at ", stdout);
    show_place(&p->at);
  }
  if (p->waker || p->woken_at.pc) {
    fputs("\n                     ended", stdout);
    if (p->waker) {
      fputs(" by ", stdout);
      show_thread(times_of(r->latency.times, p->waker)->name, p->waker);
    }
    fputs(" at ", stdout);
    show_place(&p->woken_at);
  }
  print_holders(r, p);
  if (p->sampled.samples) {
    fputs("\n                     ", stdout);
    show_sampled(&p->sampled);
  }
  putchar('\n');
}

static void put_short(struct trace_text text) {
  enum { LONGEST = 40 };
  const bool is_cut = text.length > LONGEST;
  if (is_cut)
    for (text.length = LONGEST; // not within a character in UTF-8
         text.length && (text.bytes[text.length] & 0xc0) == 0x80;)
      text.length--;
  show_text(text);
  if (is_cut)
    fputs("...", stdout);
}

static void print_messages(const struct task_times *w) {
  for (size_t i = 0; i < w->message_count; i++) {
    fputs(", ", stdout);
    put_short(w->messages[i].key);
    putchar('=');
    put_short(w->messages[i].text);
  }
}

static void print_slowest(const struct report *r) {
  enum { LEAST_SHARE = 200, LEAST_REST = 1000, PARTS = 20 };
  puts("\nThe slowest tasks");
  for (size_t i = 0; i < r->latency.slowest_count; i++) {
    const struct task_times *w = &r->latency.slowest[i];
    uint64_t rest = task_length(w->task);
    printf("%3zu. %s: ", i + 1, time_text(rest).text);
    show_text(w->task->name);
    printf("%stask %" PRIu64 " from %.6f s", w->task->name.length ? ", " : "",
           w->task->id, (double)w->task->begin / 1e9);
    fputs(w->task->end_g ? "" : ", not ended", stdout);
    print_messages(w);
    putchar('\n');
    for (size_t k = 0; k < w->part_count && k < PARTS; k++) {
      if (w->parts[k].ns < task_length(w->task) / LEAST_SHARE)
        break;
      print_part(r, w, &w->parts[k]);
      rest -= w->parts[k].ns;
    }
    if (rest > task_length(w->task) / LEAST_REST)
      printf("    %8s %6s  other\n", time_text(rest).text,
             quantity_share((int64_t)rest, (int64_t)task_length(w->task)).text);
  }
}

static void print_report(const char *path, const struct report *r) {
  const struct tasks *t = r->latency.tasks;
  const struct style style = style_of_output(NULL);
  show_text(trace_text_of(path));
  printf(": %zu %s%s in %s\n", t->count,
         r->latency.are_regions ? "region" : "task", plural(t->count),
         time_text(t->duration).text);
  if (t->begun_before)
    printf("Left out, because they began before the trace: %" PRIu64
           " task%s\n",
           t->begun_before, plural(t->begun_before));
  if (!t->count) {
    puts("A program marks its tasks by mprof_trace_task_begin and "
         "mprof_trace_task_end");
    puts("mprof trace top shows the waits of all threads");
    return;
  }
  if (r->latency.are_regions)
    puts("The trace has no tasks, so each outermost region of a thread counts "
         "as one");
  putchar('\n');
  print_groups(r, &style);
  for (size_t i = 0; i < r->group_count; i++)
    if (r->groups[i].ended > 1)
      print_histogram(&r->groups[i], &style);
  print_causes(r, "");
  print_slowest(r);
}

// --- JSON ---

static void print_group_json(const struct group *g) {
  bool has_class = false;
  putchar('{');
  json_text(stdout, "name", g->name);
  printf(",\"ended\":%zu,\"not_ended\":%zu,\"p50_ns\":%" PRIu64
         ",\"p90_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64
         ",\"histogram\":[",
         g->ended, g->open, percentile(g, 50), percentile(g, 90),
         percentile(g, 99), longest(g));
  for (unsigned i = 0; i < CLASSES; i++)
    if (g->classes[i]) {
      printf("%s{\"from_ns\":%" PRIu64 ",\"tasks\":%" PRIu64 "}",
             has_class ? "," : "", (uint64_t)1 << i, g->classes[i]);
      has_class = true;
    }
  fputs("]}", stdout);
}

static void print_holders_json(const struct report *r,
                               const struct holder_parts *h) {
  for (size_t i = 0; i < h->count; i++) {
    printf("%s{\"ns\":%" PRIu64 ",\"g\":%" PRIu64 ",", i ? "," : ",\"held\":[",
           h->v[i].ns, h->v[i].g);
    json_text(stdout, "thread", times_of(r->latency.times, h->v[i].g)->name);
    show_place_json("released_at", &h->v[i].at);
    putchar('}');
  }
  if (h->count)
    putchar(']');
}

static void print_kind_json(const struct report *r, const struct task_part *p) {
  json_text(stdout, "kind",
            p->kind != TASK_UNATTENDED ? times_name(r->latency.times, p->kind)
                                       : TEXT("no thread"));
}

static void print_lock_json(const struct task_part *p) {
  if (!p->lock.length)
    return;
  putchar(',');
  json_text(stdout, "lock", p->lock);
}

static void print_part_json(const struct report *r, const struct task_part *p) {
  const bool is_attended = p->kind != TASK_UNATTENDED;
  putchar('{');
  print_kind_json(r, p);
  printf(",\"ns\":%" PRIu64, p->ns);
  if (is_attended) {
    printf(",\"g\":%" PRIu64 ",", p->g);
    json_text(stdout, "thread", times_of(r->latency.times, p->g)->name);
  }
  if (p->kind >= TIME_CALL && is_attended) {
    printf(",\"waits\":%" PRIu64, p->count);
    print_lock_json(p);
    show_place_json("at", &p->at);
    if (p->waker) {
      printf(",\"ended_by\":%" PRIu64 ",", p->waker);
      json_text(stdout, "ended_by_thread",
                times_of(r->latency.times, p->waker)->name);
    }
    show_place_json("ended_at", &p->woken_at);
    print_holders_json(r, &p->held);
  }
  show_sampled_json(&p->sampled);
  putchar('}');
}

static void print_causes_json(const struct report *r) {
  struct task_causes c = task_causes_find(&r->latency);
  printf("\"slowest_together\":{\"tasks\":%zu,\"ns\":%" PRIu64 ",\"parts\":[",
         r->latency.studied_count, c.ns);
  for (size_t i = 0; i < c.count; i++) {
    const struct task_part *p = c.v[i].largest;
    printf("%s{\"tasks\":%zu,\"ns\":%" PRIu64 ",", i ? ",\n" : "\n",
           c.v[i].tasks, c.v[i].ns);
    print_kind_json(r, p);
    print_lock_json(p);
    if (p->at.pc)
      show_place_json("at", &p->at);
    print_holders_json(r, &p->held);
    putchar('}');
  }
  fputs("]}", stdout);
  task_causes_free(&c);
}

static void print_json(const struct report *r) {
  const struct tasks *t = r->latency.tasks;
  printf("{\"duration_ns\":%" PRIu64 ",\"begun_before\":%" PRIu64
         ",\"are_regions\":%s,\n\"tasks\":[",
         t->duration, t->begun_before,
         r->latency.are_regions ? "true" : "false");
  for (size_t i = 0; i < r->group_count; i++) {
    fputs(i ? ",\n" : "\n", stdout);
    print_group_json(&r->groups[i]);
  }
  fputs("],\n\"slowest\":[", stdout);
  for (size_t i = 0; i < r->latency.slowest_count; i++) {
    const struct task_times *w = &r->latency.slowest[i];
    printf("%s{\"task\":%" PRIu64 ",\"parent\":%" PRIu64 ",", i ? ",\n" : "\n",
           w->task->id, w->task->parent);
    json_text(stdout, "name", w->task->name);
    printf(",\"begin_ns\":%" PRIu64 ",\"length_ns\":%" PRIu64
           ",\"has_ended\":%s,\"messages\":[",
           w->task->begin, task_length(w->task),
           w->task->end_g ? "true" : "false");
    for (size_t k = 0; k < w->message_count; k++) {
      fputs(k ? ",{" : "{", stdout);
      json_text(stdout, "key", w->messages[k].key);
      putchar(',');
      json_text(stdout, "text", w->messages[k].text);
      putchar('}');
    }
    fputs("],\"parts\":[", stdout);
    for (size_t k = 0; k < w->part_count; k++) {
      fputs(k ? ",\n" : "\n", stdout);
      print_part_json(r, &w->parts[k]);
    }
    fputs("]}", stdout);
  }
  fputs("],\n", stdout);
  print_causes_json(r);
  puts("}");
}

// --- a section of mprof explain ---

static void put_section(const struct report *r, size_t limit) {
  const struct group *g = &r->groups[0];
  char *name = name_of(g);
  printf("\n## %s\n\nThe slowest of %zu %s%s took %s: ",
         r->latency.are_regions ? "Regions" : "Tasks", r->latency.tasks->count,
         r->latency.are_regions ? "region" : "task",
         plural(r->latency.tasks->count), time_text(longest(g)).text);
  markup_put_markdown(stdout, *name ? name : "one without a name");
  fputs(".\n\n", stdout);
  struct table *t = table_of_groups(
      r, limit && limit < r->group_count ? limit : r->group_count);
  table_print_markdown(t, stdout);
  table_free(t);
  free(name);
  print_causes(r, ":\n");
}

bool latency_section(const char *path, size_t limit) {
  char error[256];
  struct trace *trace = trace_open(path, error, sizeof error);
  if (!trace)
    return false;
  struct report r = {0};
  latency_find_tasks(&r.latency, NULL, trace);
  const bool has_tasks = r.latency.tasks->count != 0;
  if (has_tasks) {
    make_groups(&r);
    latency_find_slowest(&r.latency, trace, trace_window_all, 1);
    put_section(&r, limit);
  }
  clear(&r);
  trace_close(trace);
  return has_tasks;
}

// --- the command ---

static uint64_t report(const char *path, struct trace *trace, size_t limit,
                       bool is_json) {
  struct report r = {0};
  const uint64_t violations = latency_find_tasks(&r.latency, path, trace);
  make_groups(&r);
  latency_find_slowest(&r.latency, trace, trace_window_all, limit);
  if (is_json)
    print_json(&r);
  else
    print_report(path, &r);
  clear(&r);
  return violations;
}

int command_latency(const struct options *options) {
  const char *path = options->paths[0];
  char error[256];
  size_t limit = SLOWEST;
  const bool is_json = option_is(options->format, "json");
  if (!option_number(options, "count", options->count, 0, SLOWEST_MAX, &limit))
    return STATUS_ERROR;
  if (options->path_count != 1)
    return complain(options, "give one trace");
  if (!(path = directory_trace(options, path)))
    return STATUS_ERROR;
  if (path[strspn(path, "0123456789")] == '\0' && access(path, F_OK) != 0)
    return complain(options,
                    "there is no file %s; mprof ctl %s trace 5 writes a trace "
                    "of the process",
                    path, path);
  struct trace *trace = trace_open(path, error, sizeof error);
  if (!trace)
    return complain(options, "%s: %s", path, error);
  const uint64_t violations = report(path, trace, limit, is_json);
  trace_close(trace);
  return trace_end(options, path, violations, "the times above are");
}
