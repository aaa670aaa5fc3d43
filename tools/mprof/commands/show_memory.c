// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of mprof memory, and the lines behind it.

#include "commands/show_memory.h"
#include "commands/input.h"
#include "commands/next_command.h"
#include "commands/own_place.h"
#include "common/memory.h"
#include "common/plural.h"
#include "terminal/markup.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/memory_advice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Smallest part of the total, in percent, about which a line is printed.
enum { LARGE = 20 };

struct shown {
  const struct memory_parts *m;
  const struct memory_shown *wanted;
  struct table *table;
};

// --- the table ---

static void add_row(struct shown *s, const struct memory_usage *u,
                    const char *text) {
  table_cell(s->table, quantity_of(u->rss, "bytes").text);
  table_cell(s->table, quantity_share(u->rss, s->m->total.rss).text);
  if (!s->wanted->is_short) {
    table_cell(s->table, quantity_of(u->pss, "bytes").text);
    table_cell(s->table, quantity_of(u->private_dirty, "bytes").text);
    if (s->m->total.swap)
      table_cell(s->table, quantity_of(u->swap, "bytes").text);
  }
  table_cell(s->table, text);
}

static size_t shown_rows(const struct shown *s,
                         const struct memory_part *part) {
  size_t n = 0;
  while (n < part->row_count &&
         (s->wanted->limit == 0 || n < s->wanted->limit) &&
         part->rows[n].usage.rss >= s->wanted->least)
    n++;
  return n;
}

static bool has_stacks(const struct memory_part *part) {
  return part->id == MPROF_MEMORY_USED || part->id == MPROF_MEMORY_MAPPED ||
         part->usage.used_beside > 0;
}

static void add_part(struct shown *s, const struct memory_part *part) {
  struct memory_usage rest = part->usage;
  const size_t n = shown_rows(s, part);
  if (part->row_count == 1 && !has_stacks(part)) {
    const char *name = part->rows[0].name;
    char *text = text_of(*name ? "%s (%s)" : "%s", part->text, name);
    add_row(s, &part->usage, text);
    free(text);
    return;
  }
  add_row(s, &part->usage, part->text);
  for (size_t i = 0; i < n; i++) {
    const struct memory_row *r = &part->rows[i];
    char *text =
        text_of(r->usage.used_beside > 0 ? "  beside blocks of %s" : "  %s",
                *r->name ? r->name : "other");
    add_row(s, &r->usage, text);
    free(text);
    rest.rss -= r->usage.rss;
    rest.pss -= r->usage.pss;
    rest.private_dirty -= r->usage.private_dirty;
    rest.swap -= r->usage.swap;
  }
  if (n > 0 && n < part->row_count && rest.rss >= s->wanted->least) {
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
  if (!s->wanted->is_short) {
    table_column(t, "pss", ALIGN_RIGHT);
    table_column(t, "private dirty", ALIGN_RIGHT);
    if (s->m->total.swap)
      table_column(t, "swap", ALIGN_RIGHT);
  }
  table_column(t, "part", ALIGN_LEFT);
  for (size_t i = 0; i < s->m->count; i++)
    if (s->m->parts[i].usage.rss >= s->wanted->least_part)
      add_part(s, &s->m->parts[i]);
  return t;
}

// --- the stacks that keep free memory ---

enum { PAGE = 4096 };

static struct table *holes_table_of(struct shown *s) {
  const struct memory_part *part = memory_part_find(s->m, MPROF_MEMORY_LISTED);
  struct table *t = s->table = table_new();
  table_column(t, "kept", ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, "used of each 4,096", ALIGN_RIGHT);
  table_column(t, "function", ALIGN_LEFT);
  size_t shown = 0;
  for (size_t i = 0; part && i < part->row_count; i++) {
    const struct memory_row *r = &part->rows[i];
    const double used = (double)r->usage.used_beside,
                 all = used + (double)r->usage.rss;
    if (r->usage.used_beside == 0 ||
        (s->wanted->limit > 0 && shown >= s->wanted->limit))
      continue;
    char *text = text_of("%.0f", used / all * PAGE);
    table_cell(t, quantity_of(r->usage.rss, "bytes").text);
    table_cell(t, quantity_share(r->usage.rss, s->m->total.rss).text);
    table_cell(t, text);
    table_cell(t, *r->name ? r->name : "other");
    free(text);
    shown++;
  }
  return t;
}

static int64_t kept_of(const struct memory_part *part) {
  int64_t kept = 0;
  for (size_t i = 0; part && i < part->row_count; i++)
    if (part->rows[i].usage.used_beside > 0)
      kept += part->rows[i].usage.rss;
  return kept;
}

// Returns the line behind the table. The caller frees it.
static char *holes_line(const struct memory_parts *m) {
  const struct memory_part *part = memory_part_find(m, MPROF_MEMORY_LISTED);
  const struct quantity kept = quantity_of(kept_of(part), "bytes"),
                        all = quantity_of(part ? part->usage.rss : 0, "bytes");
  return text_of("blocks of these stacks keep %s of the %s of free memory "
                 "between blocks\n",
                 kept.text, all.text);
}

// --- the lines behind the table ---

// Prints the sentences of the note, one in each line.
static void print_notes(const struct profile *p, FILE *out) {
  const char *note = p->file_count == 1 ? input_comment(p, "note") : NULL;
  char *text = text_of("%s", note ? note : ""), *rest = text, *end;
  for (; *rest; rest = end) {
    end = strstr(rest, "; ");
    if (end)
      *end = '\0';
    fputs("note: ", out);
    style_put(out, rest);
    fputc('\n', out);
    end = end ? end + 2 : rest + strlen(rest);
  }
  free(text);
}

// Prints what the cgroup of the process counts (live/process_account.c).
static void print_cgroup(const struct profile *p, FILE *out) {
  const char *text = p->file_count == 1 ? input_comment(p, "cgroup") : NULL;
  int64_t used, cache;
  uint64_t limit;
  if (!text ||
      sscanf(text,
             "%" SCNd64 " bytes, %" SCNd64 " of page cache, limit %" SCNu64,
             &used, &cache, &limit) != 3)
    return;
  fprintf(out, "its cgroup has %s in use, of which %s are page cache",
          quantity_of(used, "bytes").text, quantity_of(cache, "bytes").text);
  if (limit <= INT64_MAX)
    fprintf(out, "; the limit is %s",
            quantity_of((int64_t)limit, "bytes").text);
  fputc('\n', out);
}

void show_memory_put_finer(const struct profile *p, FILE *out) {
  const char *command = input_comment(p, "command");
  fputs("mprof run --heap-rate=16k -O memory=1 ", out);
  style_put(out, command ? command : "PROGRAM");
}

// Prints the command that shows which blocks keep the free memory between
// blocks, if this memory is large.
static void print_holes_command(const struct profile *p,
                                const struct memory_parts *m, const char *path,
                                FILE *out) {
  const struct memory_part *part = memory_part_find(m, MPROF_MEMORY_LISTED);
  if (!part || part->usage.rss <= m->total.rss / 100 * LARGE)
    return;
  if (part->usage.used_beside == 0)
    show_memory_put_finer(p, out);
  else if (path)
    next_command_put(out, "memory --holes", path);
  else
    return;
  fputs("  # the stacks of these blocks\n", out);
}

static void print_sentences(const struct view *v, const struct memory_parts *m,
                            const char *path, FILE *out) {
  fprintf(out, "%s resident in total, %s of it used by no other process",
          quantity_of(m->total.rss, "bytes").text,
          quantity_of(m->total.private_dirty, "bytes").text);
  if (m->total.swap)
    fprintf(out, "; %s in swap", quantity_of(m->total.swap, "bytes").text);
  fputc('\n', out);
  print_cgroup(v->profile, out);
  print_notes(v->profile, out);
  memory_advise(m, out);
  const bool is_outside = input_comment(v->profile, "read") != NULL;
  if (!is_outside)
    print_holes_command(v->profile, m, path, out);
  if (is_outside)
    fprintf(out,
            "the process is read from outside, so nothing has a stack: mprof "
            "run writes a profile with stacks at exit, and a process with the "
            "option listen (%s) answers with stacks while it runs\n",
            document_place("live.md"));
  if (is_outside && memory_part_find(m, MPROF_MEMORY_UNSPLIT))
    fputs("from outside, memory of another malloc also has what the program "
          "has mapped itself\n",
          out);
}

// Returns the sentences, and, for the lines behind a table, what else there is
// to say. The caller frees them.
static char *sentences(const struct view *v, const struct memory_parts *m,
                       const char *path, bool has_table) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return text_of("%s", "");
  print_sentences(v, m, path, out);
  if (has_table && v->profile->file_count > 1)
    fprintf(out,
            "%zu profiles are added up; for those of one process, "
            "--over-time shows one after the other\n",
            (size_t)v->profile->file_count);
  if (has_table)
    input_print_view_losses(v, out);
  fclose(out);
  return text;
}

char *show_memory_sentences(const struct view *v, const struct memory_parts *m,
                            const char *path) {
  return sentences(v, m, path, false);
}

// --- text and Markdown ---

struct view *memory_view(struct profile *p, struct view_options wanted,
                         char *error, size_t size) {
  wanted.type = "rss";
  wanted.keeps_zeros = true;
  return view_new(p, &wanted, error, size);
}

struct memory_shown memory_shown_briefly(const struct memory_parts *m) {
  enum { ROWS = 3, NOTICEABLE = 5 }; // NOTICEABLE: in percent
  const int64_t least = m->total.rss / 100 * NOTICEABLE;
  return (struct memory_shown){
      .limit = ROWS, .least = least, .least_part = least, .is_short = true};
}

// Makes the table and the text behind it, which the caller frees.
static struct table *make(struct shown *s, const struct view *v, char **lines) {
  *lines = s->wanted->is_holes ? holes_line(s->m)
                               : sentences(v, s->m, s->wanted->path, true);
  return s->wanted->is_holes ? holes_table_of(s) : table_of(s);
}

void show_memory(const struct view *v, const struct memory_parts *m,
                 const struct memory_shown *shown, FILE *out,
                 const struct style *style) {
  struct shown s = {.m = m, .wanted = shown};
  char *lines;
  struct table *t = make(&s, v, &lines);
  input_print_title(v, out, style);
  table_print(t, out, style);
  fputc('\n', out);
  style_put_lines(out, lines, strlen(lines));
  free(lines);
  table_free(t);
}

void show_memory_markdown(const struct view *v, const struct memory_parts *m,
                          const struct memory_shown *shown, FILE *out) {
  struct shown s = {.m = m, .wanted = shown};
  char *lines;
  struct table *t = make(&s, v, &lines);
  table_print_markdown(t, out);
  markup_put_paragraphs(out, lines);
  free(lines);
  table_free(t);
}
