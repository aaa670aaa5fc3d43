// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof memory: where all resident memory of a process is.

#include "common/memory.h"
#include "commands/input.h"
#include "commands/options.h"
#include "common/plural.h"
#include "files/json.h"
#include "names/places.h"
#include "terminal/markup.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/memory_advice.h"
#include "view/memory_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Number of rows of a part without the option --count, and the smallest part of
// the total, in percent, that they must have.
enum { ROWS = 5, NOTICEABLE = 1 };

struct shown {
  const struct memory_parts *m;
  struct table *table;
  size_t limit;  // of the rows of a part; 0: all
  int64_t least; // bytes that a row must have
};

// --- text and Markdown ---

static void add_row(struct shown *s, const struct memory_usage *u,
                    const char *text) {
  table_cell(s->table, quantity_of(u->rss, "bytes").text);
  table_cell(s->table, quantity_share(u->rss, s->m->total.rss).text);
  table_cell(s->table, quantity_of(u->pss, "bytes").text);
  table_cell(s->table, quantity_of(u->private_dirty, "bytes").text);
  if (s->m->total.swap)
    table_cell(s->table, quantity_of(u->swap, "bytes").text);
  table_cell(s->table, text);
}

static size_t shown_rows(const struct shown *s,
                         const struct memory_part *part) {
  size_t n = 0;
  while (n < part->row_count && (s->limit == 0 || n < s->limit) &&
         part->rows[n].usage.rss >= s->least)
    n++;
  return n;
}

static void add_part(struct shown *s, const struct memory_part *part) {
  struct memory_usage rest = part->usage;
  const size_t n = shown_rows(s, part);
  add_row(s, &part->usage, part->text);
  if (part->row_count == 1 && !*part->rows[0].name)
    return;
  for (size_t i = 0; i < n; i++) {
    const struct memory_row *r = &part->rows[i];
    char *text = text_of("  %s", *r->name ? r->name : "[unknown]");
    add_row(s, &r->usage, text);
    free(text);
    rest.rss -= r->usage.rss;
    rest.pss -= r->usage.pss;
    rest.private_dirty -= r->usage.private_dirty;
    rest.swap -= r->usage.swap;
  }
  if (n > 0 && n < part->row_count && rest.rss >= s->least) {
    char *text = text_of("  %zu other%s", part->row_count - n,
                         plural(part->row_count - n));
    add_row(s, &rest, text);
    free(text);
  }
}

static struct table *table_of(struct shown *s) {
  struct table *t = s->table = table_new();
  table_column(t, "rss", ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, "pss", ALIGN_RIGHT);
  table_column(t, "private dirty", ALIGN_RIGHT);
  if (s->m->total.swap)
    table_column(t, "swap", ALIGN_RIGHT);
  table_column(t, "part", ALIGN_LEFT);
  for (size_t i = 0; i < s->m->count; i++)
    add_part(s, &s->m->parts[i]);
  return t;
}

// --- the lines behind the table ---

static void print_notes(const struct profile *p, FILE *out) {
  const char *note = p->file_count == 1 ? input_comment(p, "note") : NULL;
  if (!note)
    return;
  fputs("note: ", out);
  style_put(out, note);
  fputc('\n', out);
}

// Returns the lines behind the table. The caller frees them.
static char *last_lines(const struct view *v, const struct memory_parts *m) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return text_of("%s", "");
  fprintf(out, "%s resident in total, %s of it used by no other process",
          quantity_of(m->total.rss, "bytes").text,
          quantity_of(m->total.private_dirty, "bytes").text);
  if (m->total.swap)
    fprintf(out, "; %s in swap", quantity_of(m->total.swap, "bytes").text);
  fputc('\n', out);
  print_notes(v->profile, out);
  memory_advise(m, out);
  if (input_comment(v->profile, "read"))
    fputs("the process is read from outside, so nothing has a stack: run it "
          "with mprof run, or with the option listen (docs/live.md), to see "
          "which code has allocated the memory\n",
          out);
  input_print_view_losses(v, out);
  fclose(out);
  return text;
}

// --- JSON ---

static void print_usage(FILE *out, const struct memory_usage *u) {
  fprintf(out,
          "\"rss\": %" PRId64 ", \"pss\": %" PRId64
          ", \"private_dirty\": %" PRId64 ", \"swap\": %" PRId64,
          u->rss, u->pss, u->private_dirty, u->swap);
}

static void print_name(FILE *out, const char *name, const char *text) {
  char *line = text_of("%s", text);
  for (char *c = line; *c; c++)
    if (*c == '\n')
      *c = ' ';
  fprintf(out, "\"%s\": ", name);
  json_string(out, line);
  free(line);
}

static void print_json(const struct view *v, const struct memory_parts *m,
                       FILE *out) {
  const char *command = input_comment(v->profile, "command"),
             *note = input_comment(v->profile, "note");
  fputs("{", out);
  print_name(out, "command", command ? command : "");
  fprintf(out, ", \"time_ns\": %" PRId64 ", ", v->profile->time_ns);
  print_usage(out, &m->total);
  fputs(",\n \"parts\": [", out);
  for (size_t i = 0; i < m->count; i++) {
    const struct memory_part *part = &m->parts[i];
    fputs(i ? ",\n  {" : "\n  {", out);
    print_name(out, "part", mprof_memory_part_name(part->id));
    fputs(", ", out);
    print_name(out, "text", part->text);
    fputs(", ", out);
    print_usage(out, &part->usage);
    fputs(",\n   \"rows\": [", out);
    for (size_t k = 0; k < part->row_count; k++) {
      fputs(k ? ",\n    {" : "\n    {", out);
      print_name(out, "name", part->rows[k].name);
      fputs(", ", out);
      print_usage(out, &part->rows[k].usage);
      fputs("}", out);
    }
    fputs("]}", out);
  }
  fputs("],\n ", out);
  print_name(out, "note", note ? note : "");
  fputs("}\n", out);
}

// --- the command ---

static struct view *read_view(const struct options *options) {
  struct profile *p = input_read(options, options->paths, options->path_count);
  if (!p)
    return NULL;
  if (!memory_is(p)) {
    complain(options,
             "%s is no memory profile; the option memory=1 writes "
             "PROGRAM.PID.memory.pb.gz at exit, and mprof memory PID reads a "
             "running process",
             options->paths[0]);
    return NULL;
  }
  struct view_options wanted = input_view_options(options);
  wanted.type = "rss";
  wanted.keeps_zeros = true;
  char error[256];
  struct view *v = view_new(p, &wanted, error, sizeof error);
  if (!v)
    complain(options, "%s", error);
  return v;
}

int command_memory(const struct options *options) {
  size_t limit;
  const char *format = options->format ? options->format : "text";
  const bool is_json = strcmp(format, "json") == 0,
             is_markdown = strcmp(format, "md") == 0;
  if (!is_json && !is_markdown && strcmp(format, "text") != 0)
    return complain(options, "--format=%s is not text, md or json", format);
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct view *v = read_view(options);
  if (!v)
    return STATUS_ERROR;
  struct memory_parts m;
  if (!memory_parts_of(v, &m))
    return complain(options,
                    "%s has samples of a kind that this version of "
                    "mprof does not know",
                    options->paths[0]);
  if (is_json) {
    print_json(v, &m, stdout);
    return STATUS_OK;
  }
  struct shown s = {.m = &m,
                    .limit = options->count ? limit : ROWS,
                    .least =
                        options->count ? 1 : m.total.rss / 100 * NOTICEABLE};
  const struct style style = input_begin_output(options);
  struct table *t = table_of(&s);
  char *lines = last_lines(v, &m);
  if (is_markdown) {
    table_print_markdown(t, stdout);
    markup_put_paragraphs(stdout, lines);
  } else {
    input_print_title(v, stdout, &style);
    table_print(t, stdout, &style);
    fputc('\n', stdout);
    style_put_lines(stdout, lines, strlen(lines));
  }
  free(lines);
  table_free(t);
  return STATUS_OK;
}
