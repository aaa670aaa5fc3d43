// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chart has a line for each profile, in which each part of the memory has
// as many letters as its share of the highest total. The table below the chart
// says which letter a part has, how much it has grown, and when.

#include "commands/input.h"
#include "commands/show_memory.h"
#include "common/memory.h"
#include "files/json.h"
#include "files/shown_path.h"
#include "terminal/quantity.h"
#include "terminal/sparkline.h"
#include "terminal/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Columns of the chart, unless the terminal has others. The time and the bytes
// need LEFT_OF_CHART columns.
enum { COLUMNS = 60, COLUMNS_MIN = 20, LEFT_OF_CHART = 33 };

// One profile.
struct snapshot {
  int64_t time_ns, total;
  int64_t parts[MPROF_MEMORY_PART_COUNT];
};

struct over_time {
  struct snapshot *items; // sorted by time
  size_t count, capacity;
  const struct view *last_read; // for the title
  // The parts that have bytes, the largest ones first.
  unsigned order[MPROF_MEMORY_PART_COUNT];
  size_t part_count;
};

// --- reading ---

static bool add_snapshot(const struct options *o, struct over_time *t,
                         char *path) {
  struct memory_parts m;
  char error[256];
  struct profile *p = input_read(o, &path, 1);
  if (!p)
    return false;
  struct view *v =
      memory_is(p) ? memory_view(p, input_view_options(o), error, sizeof error)
                   : NULL;
  if (!v || !memory_parts_of(v, &m)) {
    complain(o, "%s is no memory profile", shown_path(path));
    return false;
  }
  struct snapshot *s = APPEND(t->items, t->count, t->capacity);
  *s = (struct snapshot){.time_ns = p->time_ns, .total = m.total.rss};
  for (size_t i = 0; i < m.count; i++)
    s->parts[m.parts[i].id] = m.parts[i].usage.rss;
  t->last_read = v;
  return true;
}

static int by_time(const void *a, const void *b) {
  const struct snapshot *x = a, *y = b;
  return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int64_t highest(const struct over_time *t, unsigned part) {
  int64_t most = 0;
  for (size_t i = 0; i < t->count; i++)
    if (t->items[i].parts[part] > most)
      most = t->items[i].parts[part];
  return most;
}

// Sorts the parts by their highest bytes.
static void order_parts(struct over_time *t) {
  for (unsigned part = 0; part < MPROF_MEMORY_PART_COUNT; part++) {
    size_t at = t->part_count;
    if (highest(t, part) == 0)
      continue;
    for (; at > 0 && highest(t, t->order[at - 1]) < highest(t, part); at--)
      t->order[at] = t->order[at - 1];
    t->order[at] = part;
    t->part_count++;
  }
}

// --- text ---

static void format_time(char text[32], int64_t time_ns) {
  const time_t seconds = (time_t)(time_ns / 1000000000);
  struct tm tm;
  if (!gmtime_r(&seconds, &tm) || !strftime(text, 32, "%F %T", &tm))
    strcpy(text, "?");
}

// Fills text with the letters of a snapshot. most: the highest total.
static void draw(const struct over_time *t, const struct snapshot *s,
                 int64_t most, char *text, size_t columns) {
  size_t at = 0;
  double sum = 0;
  for (size_t i = 0; i < t->part_count; i++) {
    sum += (double)s->parts[t->order[i]];
    const size_t end = (size_t)(sum / (double)most * (double)columns + 0.5);
    while (at < end && at < columns)
      text[at++] = (char)('a' + i);
  }
  text[at] = '\0';
}

static struct table *chart_of(const struct over_time *t, size_t columns) {
  struct table *table = table_new();
  int64_t most = 1;
  char *bar = zeroed(columns + 1, 1);
  table_column(table, "time (UTC)", ALIGN_LEFT);
  table_column(table, "rss", ALIGN_RIGHT);
  table_column(table, "", ALIGN_LEFT);
  for (size_t i = 0; i < t->count; i++)
    if (t->items[i].total > most)
      most = t->items[i].total;
  for (size_t i = 0; i < t->count; i++) {
    char text[32];
    format_time(text, t->items[i].time_ns);
    table_cell(table, text);
    table_cell(table, quantity_of(t->items[i].total, "bytes").text);
    draw(t, &t->items[i], most, bar, columns);
    table_cell(table, bar);
  }
  free(bar);
  return table;
}

static int64_t bytes_of(const struct snapshot *s, unsigned part) {
  return part == MPROF_MEMORY_PART_COUNT ? s->total : s->parts[part];
}

static struct sparkline line_of(const struct over_time *t, unsigned part) {
  int64_t *values = zeroed(t->count, sizeof *values);
  for (size_t i = 0; i < t->count; i++)
    values[i] = bytes_of(&t->items[i], part);
  const struct sparkline line = sparkline_of(values, t->count);
  free(values);
  return line;
}

// part: MPROF_MEMORY_PART_COUNT stands for the sum.
static void add_row(struct table *table, const struct over_time *t,
                    const char *letter, unsigned part, int64_t most,
                    const char *text, bool has_line) {
  const int64_t first = bytes_of(&t->items[0], part),
                last = bytes_of(&t->items[t->count - 1], part);
  const int64_t growth = last - first;
  char *signed_text =
      text_of("%s%s", growth > 0 ? "+" : "", quantity_of(growth, "bytes").text);
  table_cell(table, letter);
  table_cell(table, quantity_of(first, "bytes").text);
  table_cell(table, quantity_of(last, "bytes").text);
  table_cell(table, quantity_of(most, "bytes").text);
  table_cell(table, growth ? signed_text : "");
  if (has_line)
    table_cell(table, line_of(t, part).text);
  table_cell(table, text);
  free(signed_text);
}

static struct table *growth_of(const struct over_time *t, bool has_line) {
  struct table *table = table_new();
  int64_t most = 0;
  table_column(table, "", ALIGN_LEFT);
  table_column(table, "first", ALIGN_RIGHT);
  table_column(table, "last", ALIGN_RIGHT);
  table_column(table, "highest", ALIGN_RIGHT);
  table_column(table, "growth", ALIGN_RIGHT);
  if (has_line)
    table_column(table, "over time", ALIGN_LEFT);
  table_column(table, "part", ALIGN_LEFT);
  for (size_t i = 0; i < t->part_count; i++) {
    const unsigned part = t->order[i];
    const char letter[] = {(char)('a' + i), '\0'};
    add_row(table, t, letter, part, highest(t, part),
            mprof_memory_part_text(part), has_line);
  }
  for (size_t i = 0; i < t->count; i++)
    if (t->items[i].total > most)
      most = t->items[i].total;
  add_row(table, t, "", MPROF_MEMORY_PART_COUNT, most, "in total", has_line);
  return table;
}

// Says which part has grown most.
static void print_growth(const struct over_time *t, FILE *out) {
  const struct snapshot *first = &t->items[0], *last = &t->items[t->count - 1];
  int64_t most = 0;
  unsigned grown = 0;
  for (unsigned part = 0; part < MPROF_MEMORY_PART_COUNT; part++)
    if (last->parts[part] - first->parts[part] > most) {
      most = last->parts[part] - first->parts[part];
      grown = part;
    }
  if (most > 0)
    fprintf(out,
            "grown most: %s, by %s; mprof leaks FIRST LAST shows the stacks\n",
            mprof_memory_part_text(grown), quantity_of(most, "bytes").text);
  else
    fputs("no part has grown\n", out);
}

// --- JSON ---

static void print_json(const struct over_time *t, FILE *out) {
  for (size_t i = 0; i < t->count; i++) {
    const struct snapshot *s = &t->items[i];
    fprintf(out, "%s{\"time_ns\": %" PRId64 ", \"rss\": %" PRId64,
            i ? ",\n " : "[", s->time_ns, s->total);
    fputs(", \"parts\": {", out);
    for (size_t k = 0; k < t->part_count; k++) {
      fputs(k ? ", " : "", out);
      json_string(out, mprof_memory_part_name(t->order[k]));
      fprintf(out, ": %" PRId64, s->parts[t->order[k]]);
    }
    fputs("}}", out);
  }
  fputs("]\n", out);
}

// --- the command ---

int memory_over_time(const struct options *options) {
  struct over_time t = {0};
  for (int i = 0; i < options->path_count; i++)
    if (!add_snapshot(options, &t, options->paths[i]))
      return STATUS_ERROR;
  if (t.count < 2)
    return complain(options, "--over-time needs at least two profiles; "
                             "snapshot_every=60s:memory=1 writes them");
  qsort(t.items, t.count, sizeof *t.items, by_time);
  order_parts(&t);
  if (option_is(options->format, "json")) {
    print_json(&t, stdout);
    free(t.items);
    return STATUS_OK;
  }
  const struct style style = input_begin_output(options);
  const bool is_markdown = option_is(options->format, "md");
  const size_t columns =
      is_markdown || style.width < LEFT_OF_CHART + COLUMNS_MIN
          ? COLUMNS
          : style.width - LEFT_OF_CHART;
  struct table *chart = chart_of(&t, columns),
               *growth = growth_of(&t, style.has_utf8 && !is_markdown);
  if (is_markdown) {
    table_print_markdown(chart, stdout);
    fputc('\n', stdout);
    table_print_markdown(growth, stdout);
  } else {
    input_print_title(t.last_read, stdout, &style);
    table_print(chart, stdout, &style);
    fputc('\n', stdout);
    table_print(growth, stdout, &style);
    fputc('\n', stdout);
    print_growth(&t, stdout);
  }
  table_free(chart);
  table_free(growth);
  free(t.items);
  return STATUS_OK;
}
