// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/live_table.h"

#include "common/memory.h"
#include "common/saturate.h"
#include "terminal/quantity.h"
#include "view/functions.h"
#include "view/lock_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct live_kind_row live_kinds[LIVE_KINDS] = {
    [LIVE_MEMORY] = {"memory", 'm', "heap", false, "heap", "heap_rate",
                     "524288"},
    [LIVE_ALLOCS] = {"allocs", 'a', "heap", true, "heap", "heap_rate",
                     "524288"},
    [LIVE_LOCKS] = {"locks", 'l', "locks", true, "locks", "mutex_fraction",
                    "1"},
    [LIVE_BLOCK] = {"block", 'b', "block", true, "block", "block_rate", "1"},
    [LIVE_CPU] = {"cpu", 'c', "profile", true, "cpu", NULL, NULL},
    [LIVE_THREADS] = {"threads", 't', "threads", false, "threads", NULL, NULL},
};

static void add_column(struct live_table *t, const char *title,
                       const char *unit, int form) {
  t->columns[t->column_count++] =
      (struct live_column){.title = title, .unit = unit, .form = form};
}

static struct live_row *add_row(struct live_table *t) {
  struct live_row *row = APPEND(t->rows, t->count, t->capacity);
  *row = (struct live_row){.place = t->count - 1};
  return row;
}

// --- functions ---

// The values of a table of functions: type 0 with and without callees, and type
// 1 beside it.
struct function_values {
  const char *types[2], *titles[2];
  bool is_rate;
};

static const struct function_values function_values[LIVE_KINDS] = {
    [LIVE_MEMORY] = {{"inuse_space", "inuse_objects"},
                     {"in use", "objects"},
                     false},
    [LIVE_ALLOCS] = {{"alloc_space", "alloc_objects"},
                     {"allocated", "objects"},
                     true},
    [LIVE_BLOCK] = {{"delay", "contentions"}, {"waiting", "waits"}, true},
    [LIVE_CPU] = {{"cpu", "samples"}, {"processor time", "samples"}, true},
};

static bool make_functions(struct live_table *t, struct profile *p,
                           const struct view_options *options, bool keeps_std,
                           char *error, size_t size) {
  const struct function_values *values = &function_values[t->kind];
  struct view *views[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++) {
    struct view_options wanted = *options;
    wanted.type = values->types[i];
    // With these samples, both views have the same frames.
    wanted.keeps_zeros = true;
    views[i] = view_new(p, &wanted, error, size);
    if (!views[i] && i == 1)
      view_free(views[0]);
    if (!views[i])
      return false;
  }
  const int form = values->is_rate ? LIVE_RATE : LIVE_NUMBER;
  add_column(t, values->titles[0], views[0]->unit, form);
  add_column(t, "share", "", LIVE_SHARE);
  add_column(t, "with callees", views[0]->unit, form);
  add_column(t, values->titles[1], views[1]->unit, form);
  add_column(t, "function", "", LIVE_TEXT);
  struct function_table rows = functions_of(views[0], keeps_std, false),
                        others = functions_of(views[1], keeps_std, false);
  int64_t *other = zeroed(views[1]->frame_count + 1, sizeof *other);
  for (size_t i = 0; i < others.count; i++)
    other[others.rows[i].shown.frame] = others.rows[i].flat;
  t->total = views[0]->total;
  for (size_t i = 0; i < rows.count; i++) {
    const struct function_row *r = &rows.rows[i];
    if (r->flat == 0 && r->cum == 0 && other[r->shown.frame] == 0)
      continue;
    struct live_row *row = add_row(t);
    row->numbers[0] = row->numbers[1] = r->flat;
    row->variance = r->flat_variance;
    row->numbers[2] = r->cum;
    row->numbers[3] = other[r->shown.frame];
    row->texts[4] = text_of("%s", frame_parts(views[0], &r->shown).text);
  }
  free(other);
  functions_free(&rows);
  functions_free(&others);
  view_free(views[0]);
  view_free(views[1]);
  return true;
}

// --- locks ---

static bool make_locks(struct live_table *t, struct profile *p,
                       const struct view_options *options, bool keeps_std,
                       char *error, size_t size) {
  struct view_options wanted = *options;
  if (!pairs_are_in(p)) {
    snprintf(error, size, "the program sent no profile of lock pairs");
    return false;
  }
  wanted.grain = GRAIN_LINES;
  wanted.type = "delay";
  struct view *v = view_new(p, &wanted, error, size);
  if (!v)
    return false;
  add_column(t, "waiting", "nanoseconds", LIVE_RATE);
  add_column(t, "share", "", LIVE_SHARE);
  add_column(t, "waits", "count", LIVE_RATE);
  add_column(t, "worst", "nanoseconds", LIVE_NUMBER);
  add_column(t, "held", "nanoseconds", LIVE_RATE);
  add_column(t, "lock", "", LIVE_NAME);
  add_column(t, "waiter", "", LIVE_TEXT);
  add_column(t, "holder", "", LIVE_TEXT); // taken -> released
  struct pairs all = pairs_of(v, keeps_std);
  t->total = v->total;
  for (size_t i = 0; i < all.count; i++) {
    const struct pair *pair = &all.items[i];
    struct live_row *row = add_row(t);
    row->numbers[0] = row->numbers[1] = pair->value;
    row->numbers[2] = pair->values[PAIR_CONTENTIONS];
    row->numbers[3] = pair->worst;
    row->numbers[4] = pair->values[PAIR_HELD];
    row->texts[5] = pair_lock_name(v, &all, pair);
    row->texts[6] = pair_waiter(v, &all, pair);
    row->texts[7] = pair_holder(v, &all, pair);
  }
  pairs_free(&all);
  view_free(v);
  return true;
}

// --- threads ---

static const char *label_of(const struct profile *p, const struct sample *s,
                            const char *key) {
  const struct label *l = profile_label(p, s, key);
  return l ? p->strings[l->str] : "";
}

static int by_text(const void *x, const void *y) {
  const struct live_row *a = x, *b = y;
  const int states = strcmp(a->texts[2], b->texts[2]);
  return states ? states : strcmp(a->texts[3], b->texts[3]);
}

// Adds up the rows with the same state and function.
static void join_rows(struct live_table *t) {
  size_t kept = 0;
  if (t->count)
    qsort(t->rows, t->count, sizeof *t->rows, by_text);
  for (size_t i = 0; i < t->count; i++) {
    if (kept && by_text(&t->rows[kept - 1], &t->rows[i]) == 0) {
      add_to(&t->rows[kept - 1].numbers[0], t->rows[i].numbers[0]);
      t->rows[kept - 1].numbers[1] = t->rows[kept - 1].numbers[0];
      free(t->rows[i].texts[2]);
      free(t->rows[i].texts[3]);
    } else {
      t->rows[kept] = t->rows[i];
      t->rows[kept].place = kept;
      kept++;
    }
  }
  t->count = kept;
}

static bool make_threads(struct live_table *t, struct profile *p,
                         const struct view_options *options, bool keeps_std,
                         char *error, size_t size) {
  struct view_options wanted = *options;
  wanted.type = NULL;
  struct view *v = view_new(p, &wanted, error, size);
  if (!v)
    return false;
  add_column(t, "threads", "count", LIVE_NUMBER);
  add_column(t, "share", "", LIVE_SHARE);
  add_column(t, "state", "", LIVE_NAME);
  add_column(t, "function", "", LIVE_TEXT);
  struct shown_frame *frames = zeroed(view_depth(v) + 1, sizeof *frames);
  t->total = v->total;
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *s = &v->stacks[i];
    const struct sample *sample = &p->samples[s->sample];
    const char *kind = label_of(p, sample, "kind"),
               *state = label_of(p, sample, "state");
    struct live_row *row = add_row(t);
    row->numbers[0] = row->numbers[1] = s->value;
    row->texts[2] =
        text_of("%s%s%s", *state ? state : "?", *kind ? ", " : "", kind);
    row->texts[3] = view_shown(v, s, keeps_std, frames)
                        ? text_of("%s", frame_parts(v, &frames[0]).text)
                        : text_of("?");
  }
  free(frames);
  view_free(v);
  join_rows(t);
  return true;
}

// --- all tables ---

bool live_table_make(struct live_table *t, enum live_kind kind,
                     struct profile *p, const struct view_options *options,
                     bool keeps_std, double seconds, char *error, size_t size) {
  *t = (struct live_table){.kind = kind,
                           .seconds = seconds < 0.001 ? 0.001 : seconds};
  return kind == LIVE_LOCKS ? make_locks(t, p, options, keeps_std, error, size)
         : kind == LIVE_THREADS
             ? make_threads(t, p, options, keeps_std, error, size)
             : make_functions(t, p, options, keeps_std, error, size);
}

void live_table_free(struct live_table *t) {
  for (size_t i = 0; i < t->count; i++)
    for (size_t k = 0; k < LIVE_COLUMNS; k++)
      free(t->rows[i].texts[k]);
  free(t->rows);
  *t = (struct live_table){0};
}

static size_t sorted_column; // for the comparison; one thread sorts

static int by_number(const void *x, const void *y) {
  const struct live_row *a = x, *b = y;
  const uint64_t m = (uint64_t)size_of(a->numbers[sorted_column]),
                 n = (uint64_t)size_of(b->numbers[sorted_column]);
  if (m != n)
    return m > n ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

void live_table_sort(struct live_table *t, size_t column) {
  sorted_column = column;
  if (t->count)
    qsort(t->rows, t->count, sizeof *t->rows, by_number);
}

size_t live_table_next(const struct live_table *t, size_t column) {
  for (column++; column < t->column_count; column++)
    if (t->columns[column].form == LIVE_NUMBER ||
        t->columns[column].form == LIVE_RATE)
      return column;
  return 0;
}

// --- text ---

static bool is_text(const struct live_column *c) {
  return c->form == LIVE_TEXT || c->form == LIVE_NAME;
}

// Returns the text of a cell, which the caller frees.
static char *cell_of(const struct live_table *t, const struct live_row *row,
                     size_t i, bool has_utf8) {
  const struct live_column *c = &t->columns[i];
  const int64_t number = row->numbers[i];
  if (is_text(c))
    return text_of("%s", row->texts[i]);
  if (c->form == LIVE_RATE)
    return text_of(
        "%s/s",
        quantity_of(quantity_round((double)number / t->seconds), c->unit).text);
  if (c->form == LIVE_SHARE)
    return text_of("%s", quantity_share(number, t->total).text);
  return text_of("%s", quantity_with_error(number, i ? 0 : row->variance,
                                           c->unit, has_utf8)
                           .text);
}

// Divides the width of the line among several columns of texts, so that each of
// them is visible. widths: the largest width of each column's cells; afterwards
// the width that the column may have.
static void share_width(const struct live_table *t, unsigned width,
                        unsigned widths[LIVE_COLUMNS]) {
  enum { GAP = 2, LEAST = 8 };
  bool is_decided[LIVE_COLUMNS];
  unsigned left = width, open = 0;
  for (size_t i = 0; i < t->column_count; i++) {
    const unsigned used = (is_text(&t->columns[i]) ? 0 : widths[i]) + GAP;
    is_decided[i] = !is_text(&t->columns[i]);
    open += !is_decided[i];
    left -= left < used ? left : used;
  }
  // A column that needs less than its part leaves the rest to the others.
  for (size_t i = 0; i < t->column_count && open > 0; i++)
    if (!is_decided[i] && widths[i] <= left / open) {
      is_decided[i] = true;
      left -= widths[i];
      open--;
      i = (size_t)-1; // the parts of the others have grown
    }
  for (size_t i = 0; i < t->column_count; i++)
    if (!is_decided[i])
      widths[i] = left / open > LEAST ? left / open : LEAST;
}

// Shortens the text of a cell. A place keeps its end, and a name its begin.
static char *cut(char *text, const struct live_column *c, unsigned columns) {
  char *shorter = NULL;
  size_t length;
  FILE *out = style_parts_width(text) > columns
                  ? open_memstream(&shorter, &length)
                  : NULL;
  if (!out)
    return text;
  (c->form == LIVE_NAME ? style_put_cut : style_put_parts)(out, text, columns);
  fclose(out);
  free(text);
  return shorter;
}

struct table *live_table_rows(const struct live_table *t, size_t first,
                              size_t count, size_t sorted,
                              const struct style *style) {
  static char marked[64]; // the table keeps the pointer
  const size_t columns = t->column_count;
  const size_t left = t->count > first ? t->count - first : 0;
  const size_t rows = count < left ? count : left;
  unsigned widths[LIVE_COLUMNS];
  struct table *out = table_new();
  snprintf(marked, sizeof marked, "*%s", t->columns[sorted].title);
  for (size_t k = 0; k < columns; k++) {
    const struct live_column *c = &t->columns[k];
    const char *title = k == sorted ? marked : c->title;
    table_column(out, title, is_text(c) ? ALIGN_LEFT : ALIGN_RIGHT);
    widths[k] = style_width(title);
  }
  char **cells = zeroed(rows * columns + 1, sizeof *cells);
  for (size_t i = 0; i < rows * columns; i++) {
    cells[i] =
        cell_of(t, &t->rows[first + i / columns], i % columns, style->has_utf8);
    const unsigned width = style_parts_width(cells[i]);
    if (width > widths[i % columns])
      widths[i % columns] = width;
  }
  if (style->width)
    share_width(t, style->width, widths);
  for (size_t i = 0; i < rows * columns; i++) {
    const struct live_column *c = &t->columns[i % columns];
    // table_print cuts the last column.
    if (style->width && is_text(c) && i % columns != columns - 1)
      cells[i] = cut(cells[i], c, widths[i % columns]);
    table_cell(out, cells[i]);
    free(cells[i]);
  }
  free(cells);
  return out;
}
