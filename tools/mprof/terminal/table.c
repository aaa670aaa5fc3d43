// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "terminal/table.h"

#include "common/memory.h"
#include "terminal/markup.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 16, GAP = 2 };

struct table {
  struct column {
    const char *title;
    enum table_align align;
    unsigned width;
  } columns[MAX_COLUMNS];
  size_t column_count;
  char **cells;
  size_t cell_count, cell_capacity;
};

struct table *table_new(void) { return zeroed(1, sizeof(struct table)); }

void table_free(struct table *t) {
  for (size_t i = 0; i < t->cell_count; i++)
    free(t->cells[i]);
  free(t->cells);
  free(t);
}

void table_column(struct table *t, const char *title, enum table_align align) {
  t->columns[t->column_count++] =
      (struct column){title, align, style_width(title)};
}

void table_cell(struct table *t, const char *text) {
  struct column *c = &t->columns[t->cell_count % t->column_count];
  const unsigned width = style_parts_width(text);
  if (width > c->width)
    c->width = width;
  const size_t length = strlen(text) + 1;
  *APPEND(t->cells, t->cell_count, t->cell_capacity) =
      memcpy(zeroed(length, 1), text, length);
}

// Prints one row. Returns nothing after the last column but the end of the
// line.
static void print_row(const struct table *t, FILE *out,
                      const struct style *style, const char *const *cells) {
  unsigned used = 0;
  for (size_t i = 0; i < t->column_count; i++) {
    const struct column *c = &t->columns[i];
    const bool is_last = i + 1 == t->column_count;
    const unsigned width = style_parts_width(cells[i]);
    const unsigned pad = c->width - width;
    if (c->align == ALIGN_RIGHT)
      fprintf(out, "%*s", (int)pad, "");
    style_put_parts(out, cells[i],
                    is_last && style->width > used ? style->width - used : 0);
    if (!is_last)
      fprintf(out, "%*s", (int)(c->align == ALIGN_LEFT ? pad + GAP : GAP), "");
    used += c->width + GAP;
  }
}

void table_print(const struct table *t, FILE *out, const struct style *style) {
  const char *titles[MAX_COLUMNS];
  for (size_t i = 0; i < t->column_count; i++)
    titles[i] = t->columns[i].title;
  if (style->has_colour)
    fputs("\033[1m", out);
  print_row(t, out, style, titles);
  fputs(style->has_colour ? "\033[0m\n" : "\n", out);
  for (size_t i = 0; i + t->column_count <= t->cell_count;
       i += t->column_count) {
    print_row(t, out, style, (const char *const *)&t->cells[i]);
    fputc('\n', out);
  }
}

// Titles of MProf are no markup. A label or the value type of another tool may
// be.
static void put_title(FILE *out, const char *title) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz_ ";
  if (title[strspn(title, plain)])
    markup_put_markdown(out, title);
  else
    fputs(title, out);
}

void table_print_markdown(const struct table *t, FILE *out) {
  for (size_t i = 0; i < t->column_count; i++) {
    fputs("| ", out);
    put_title(out, t->columns[i].title);
    fputc(' ', out);
  }
  fputs("|\n", out);
  for (size_t i = 0; i < t->column_count; i++)
    fputs(t->columns[i].align == ALIGN_RIGHT ? "| ---: " : "| --- ", out);
  fputs("|\n", out);
  for (size_t i = 0; i + t->column_count <= t->cell_count;
       i += t->column_count) {
    for (size_t k = 0; k < t->column_count; k++) {
      fputs(k ? " | " : "| ", out);
      markup_put_markdown(out, t->cells[i + k]);
    }
    fputs(" |\n", out);
  }
}
