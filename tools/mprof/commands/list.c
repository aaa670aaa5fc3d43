// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof list: the source lines of functions, with the values of the lines.

#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/options.h"
#include "common/idmap.h"
#include "common/memory.h"
#include "common/saturate.h"
#include "files/json.h"
#include "files/source.h"
#include "terminal/quantity.h"
#include "view/functions.h"
#include "view/pattern.h"

#include <inttypes.h>
#include <stdlib.h>

// Lines that are shown before the first and after the last line with a value,
// and the largest gap that is shown between two such lines.
enum { CONTEXT = 3, MAX_GAP = 12 };

// The lines of one function that have values, sorted by line.
struct listing {
  string_id name, file;
  struct function_row *rows;
  size_t count, capacity;
  int64_t flat, cum;
};

struct listings {
  struct listing *items;
  size_t count, capacity;
  struct idmap set;
};

static struct listing *listing_of(struct listings *l, string_id name,
                                  string_id file) {
  const size_t index =
      idmap_get(&l->set, (uint64_t)name << 32 | file, l->count);
  if (index == l->count)
    *APPEND(l->items, l->count, l->capacity) =
        (struct listing){.name = name, .file = file};
  return &l->items[index];
}

static const struct view *sorted_view; // for by_line; one thread sorts

static int by_line(const void *x, const void *y) {
  const struct function_row *a = x, *b = y;
  const int64_t p = sorted_view->frames[a->shown.frame].line;
  const int64_t q = sorted_view->frames[b->shown.frame].line;
  return (p > q) - (p < q);
}

static int by_value(const void *x, const void *y) {
  const struct listing *a = x, *b = y;
  if (size_of(a->flat) != size_of(b->flat))
    return size_of(a->flat) > size_of(b->flat) ? -1 : 1;
  const int64_t p = size_of(a->cum), q = size_of(b->cum);
  return p != q ? (p > q ? -1 : 1) : 0;
}

// Collects the lines by function. Functions of the standard libraries are left
// out, unless the user asks for them.
static struct listings collect(const struct view *v,
                               const struct function_table *t, bool keeps_std,
                               struct pattern *wanted) {
  struct listings l = {0};
  const char **strings = v->profile->strings;
  for (size_t i = 0; i < t->count; i++) {
    const struct frame *f = &v->frames[t->rows[i].shown.frame];
    if (!f->file || f->line <= 0 || (f->is_std && !keeps_std) ||
        (wanted && !pattern_matches(wanted, strings[f->name]) &&
         !pattern_matches(wanted, strings[f->plain])))
      continue;
    struct listing *x = listing_of(&l, f->name, f->file);
    *APPEND(x->rows, x->count, x->capacity) = t->rows[i];
    add_to(&x->flat, t->rows[i].flat);
    add_to(&x->cum, t->rows[i].cum);
  }
  sorted_view = v;
  for (size_t i = 0; i < l.count; i++)
    qsort(l.items[i].rows, l.items[i].count, sizeof *l.items[i].rows, by_line);
  if (l.count)
    qsort(l.items, l.count, sizeof *l.items, by_value);
  return l;
}

static void print_line(const char *flat, const char *cum, int64_t number,
                       const char *text, const struct style *style) {
  printf("%12s  %12s  %6" PRId64 "  ", flat, cum, number);
  char line[512];
  source_line(text, line, sizeof line); // tabs would become '?'
  if (style->width > 36)
    style_put_cut(stdout, line, style->width - 36);
  else
    style_put(stdout, line);
  putchar('\n');
}

static const char *text_at(const struct source *s, int64_t line) {
  return line >= 1 && (size_t)line <= s->count ? s->lines[line - 1] : "";
}

static void print_listing(const struct view *v, const struct listing *l,
                          const char *directory, const struct style *style) {
  const char *file = v->profile->strings[l->file];
  struct source source = source_read(file, directory);
  putchar('\n');
  style_put(stdout, v->profile->strings[l->name]);
  fputs("  ", stdout);
  style_put(stdout, file);
  puts(source.text ? "" : "  (the source file cannot be read)");
  int64_t next = 0; // the next line that is not printed yet
  for (size_t i = 0; i < l->count; i++) {
    const struct function_row *r = &l->rows[i];
    const int64_t line = v->frames[r->shown.frame].line;
    int64_t from = line > CONTEXT ? line - CONTEXT : 1;
    if (next && line - next <= MAX_GAP)
      from = next;
    else if (next)
      puts("                              ...");
    for (; source.text && from < line; from++)
      print_line("", "", from, text_at(&source, from), style);
    print_line(r->flat ? quantity_of(r->flat, v->unit).text : "",
               quantity_of(r->cum, v->unit).text, line, text_at(&source, line),
               style);
    next = line + 1;
  }
  for (int i = 0; i < CONTEXT && (size_t)next <= source.count; i++, next++)
    print_line("", "", next, text_at(&source, next), style);
  source_free(&source);
}

static void print_json(const struct options *options, const struct view *v,
                       const struct listings *l, size_t count) {
  const char **strings = v->profile->strings;
  json_begin(stdout, options, v, l->count);
  fputs("\"functions\": [", stdout);
  for (size_t i = 0; i < count; i++) {
    const struct listing *x = &l->items[i];
    fputs(i ? ",\n  {\"function\": " : "\n  {\"function\": ", stdout);
    json_string(stdout, strings[x->name]);
    json_put_text(stdout, "file", strings[x->file]);
    fputs(", \"lines\": [", stdout);
    for (size_t k = 0; k < x->count; k++)
      printf("%s\n    {\"line\": %" PRId64 ", \"value\": %" PRId64
             ", \"with_callees\": %" PRId64 "}",
             k ? "," : "", v->frames[x->rows[k].shown.frame].line,
             x->rows[k].flat, x->rows[k].cum);
    fputs("]}", stdout);
  }
  fputs("]", stdout);
  json_end(stdout, v);
}

int command_list(const struct options *options) {
  size_t limit;
  char error[256];
  struct pattern *wanted = NULL;
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  if (!options->count)
    limit = 5;
  if (options->function &&
      !(wanted = pattern_new(options->function, false, error, sizeof error)))
    return complain(options, "--function is not a regular expression: %s",
                    error);
  struct options by_lines = *options;
  by_lines.lines = true;
  struct view *v = input_view_of_values(&by_lines);
  if (!v)
    return STATUS_ERROR;
  struct function_table t = functions_of(v, options->std, false);
  struct listings l = collect(v, &t, options->std, wanted);
  v->losses.uncompared += pattern_failures(wanted);
  const size_t count = limit && limit < l.count ? limit : l.count;
  if (option_is(options->format, "json")) {
    print_json(options, v, &l, count);
    return STATUS_OK;
  }
  const struct style style = input_begin_output(options);
  input_print_title(v, stdout, &style);
  if (count)
    printf("%12s  %12s  %6s\n", v->type_name, "with callees", "line");
  for (size_t i = 0; i < count; i++)
    print_listing(v, &l.items[i], options->source, &style);
  if (l.count == 0)
    puts("\nno function with known source lines matches");
  input_print_end(v, stdout, &style, count, l.count, "functions", "-n 0");
  return STATUS_OK;
}
