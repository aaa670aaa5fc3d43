// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/live_screen.h"

#include "common/saturate.h"
#include "terminal/quantity.h"
#include "terminal/style.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "m  memory in use by function       a  rates of allocation\n"
    "l  locks, waiters and holders      b  waits of all kinds\n"
    "c  processor time                  t  threads by state\n"
    "\n"
    "s  sorts by the next column        /  shows only stacks that match\n"
    "o  switches the profile on or off  w  writes the profile to a file\n"
    "space  stops and continues         arrows, PgUp, PgDn, Home, End  scroll\n"
    "?  ends this help                  q  ends the command\n"
    "\n"
    "Profiles that o has changed are changed back at the end.\n";

static void put_first_line(const struct live_screen *s, FILE *out,
                           const struct style *style) {
  fputs(style->has_colour ? "\033[1mmprof live\033[0m  " : "mprof live  ", out);
  style_put_cut(out, s->program, 40);
  if (s->use[0])
    fprintf(out, "  %s", s->use);
  if (s->is_paused)
    fputs("  stopped", out);
  fputc('\n', out);
}

static void put_kinds(const struct live_screen *s, FILE *out,
                      const struct style *style) {
  for (int i = 0; i < LIVE_KINDS; i++) {
    const bool is_shown = i == (int)s->kind;
    const char *begin = !is_shown ? "" : style->has_colour ? "\033[7m" : "[";
    const char *end = !is_shown ? "" : style->has_colour ? "\033[0m" : "]";
    fprintf(out, "%s%s%c %s%s", i ? "  " : "", begin, live_kinds[i].key,
            live_kinds[i].name, end);
  }
  fputc('\n', out);
}

// Prints the number of threads of each state, as in ": 50 waiting, 1 running",
// in the order of their first rows. There are only a few states.
static void put_states(const struct live_table *t, FILE *out) {
  enum { STATE = 2, MOST = 8 }; // the column: "waiting, mutex" or "running"
  struct {
    char name[16];
    int64_t sum;
  } states[MOST];
  size_t count = 0;
  for (size_t i = 0; i < t->count; i++) {
    char name[sizeof states->name];
    size_t k = 0;
    const char *text = t->rows[i].texts[STATE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ","), text);
    while (k < count && strcmp(states[k].name, name) != 0)
      k++;
    if (k == MOST)
      continue;
    if (k == count) {
      memcpy(states[k].name, name, sizeof name);
      states[k].sum = 0;
      count++;
    }
    add_to(&states[k].sum, t->rows[i].numbers[0]);
  }
  for (size_t k = 0; k < count; k++) {
    fprintf(out, "%s%s ", k ? ", " : ": ",
            quantity_of(states[k].sum, "count").text);
    style_put(out, states[k].name);
  }
}

// Prints the sum, and how many rows are shown.
static void put_sum(const struct live_screen *s, size_t shown, FILE *out) {
  const struct live_table *t = &s->table;
  const struct live_column *c = &t->columns[0];
  const bool is_rate = c->form == LIVE_RATE;
  const double total =
      is_rate ? (double)t->total / t->seconds : (double)t->total;
  fprintf(out, "%s%s in total",
          quantity_of(quantity_round(total), c->unit).text,
          is_rate ? "/s" : "");
  if (t->kind == LIVE_THREADS)
    put_states(t, out);
  if (is_rate)
    fprintf(out, ", in the last %.1f s", t->seconds);
  if (shown < t->count)
    fprintf(out, "; rows %zu to %zu of %zu", shown ? s->first + 1 : 0,
            s->first + shown, t->count);
  if (s->filter[0]) {
    fputs("; only stacks that match ", out);
    style_put_cut(out, s->filter, 40);
  }
  fputc('\n', out);
}

// Returns the number of rows that are printed.
static size_t put_table(const struct live_screen *s, size_t rows, FILE *out,
                        const struct style *style) {
  const struct live_table *t = &s->table;
  if (!t->column_count)
    return 0;
  const size_t left = t->count > s->first ? t->count - s->first : 0;
  const size_t shown = left < rows ? left : rows;
  struct table *table = live_table_rows(t, s->first, shown, s->sorted, style);
  table_print(table, out, style);
  table_free(table);
  return shown;
}

void live_screen_plain(const struct live_screen *s, size_t rows, FILE *out,
                       const struct style *style) {
  put_first_line(s, out, style);
  put_kinds(s, out, style);
  const size_t shown = put_table(s, rows, out, style);
  if (s->table.column_count)
    put_sum(s, shown, out);
  if (s->losses)
    fputs(s->losses, out);
  if (s->message[0]) {
    style_put(out, s->message);
    fputc('\n', out);
  }
}

// The lines that are not rows: three above the table, the sum, a line of losses
// and the last line.
enum { OTHER_LINES = 6 };

size_t live_screen_rows(unsigned height) {
  return height > OTHER_LINES ? height - OTHER_LINES : 0;
}

static void put_last_line(const struct live_screen *s, FILE *out,
                          const struct style *style) {
  const unsigned width = style->width;
  if (s->prompt) {
    fputs("/", out);
    style_put_cut(out, s->prompt, width > 2 ? width - 2 : 0);
  } else if (s->message[0]) {
    style_put_cut(out, s->message, width);
  } else {
    style_put_cut(out,
                  "? help  / filter  s sort  o on/off  w write  space stop  "
                  "q quit",
                  width);
  }
}

// Prints the part of a line that fits into the terminal. Its colours stay.
static void put_begin(const char *line, size_t length, unsigned width,
                      FILE *out) {
  unsigned left = width;
  for (size_t i = 0, n; i < length; i += n) {
    char character[8] = "";
    n = 1;
    if (line[i] == '\033') { // up to the "m"
      n += strcspn(&line[i], "m");
    } else {
      while (n < 4 && i + n < length && (line[i + n] & 0xc0) == 0x80)
        n++;
      memcpy(character, &line[i], n);
    }
    const unsigned columns = *character ? style_width(character) : 0;
    if (columns > left)
      left = 0;
    else if (left || !*character)
      fwrite(&line[i], 1, n, out);
    left -= columns < left ? columns : left;
  }
}

void live_screen_full(const struct live_screen *s, unsigned height, FILE *out,
                      const struct style *style) {
  char *body = NULL;
  size_t length = 0;
  FILE *lines = open_memstream(&body, &length);
  if (!lines)
    return;
  put_first_line(s, lines, style);
  put_kinds(s, lines, style);
  if (s->has_help) {
    fputs("\n", lines);
    fputs(help, lines);
  } else {
    const size_t shown = put_table(s, live_screen_rows(height), lines, style);
    if (s->table.column_count)
      put_sum(s, shown, lines);
    else
      fputs("waiting for the program\n", lines);
    if (s->losses)
      fprintf(lines, "%.*s\n", (int)strcspn(s->losses, "\n"), s->losses);
  }
  fclose(lines);
  const char *at = body;
  unsigned used = 0;
  for (; *at && used + 1 < height; used++) {
    const size_t line = strcspn(at, "\n");
    put_begin(at, line, style->width, out);
    fputc('\n', out);
    at += line + (at[line] == '\n');
  }
  for (; used + 1 < height; used++)
    fputc('\n', out);
  free(body);
  put_last_line(s, out, style);
}
