// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compare/changes.h"

#include "common/intern.h"
#include "common/memory.h"
#include "compare/sides.h"
#include "view/shown_frames.h"
#include "view/view.h"

#include <math.h>
#include <stdlib.h>

// --- changed lines ---
//
// The values of both sides by function and source line, to find the line of
// each function that has changed most.

struct changed_line {
  uint32_t row; // number of the function
  // The place on the new side, if it has the line. Lines of one function are
  // equal if their numbers are, because the sources of two builds may be in
  // different directories.
  struct frame_place place;
  double side[SIDES];
};

struct changed_lines {
  struct changed_line *items;
  size_t count, capacity;
  struct intern set;
};

struct wanted_line {
  const struct changed_lines *lines;
  uint32_t row;
  int64_t line;
};

static bool is_line(const void *arg, uint32_t index) {
  const struct wanted_line *w = arg;
  const struct changed_line *c = &w->lines->items[index];
  return c->row == w->row && c->place.line == w->line;
}

// Adds the values of a stack, whose leaf is a function at a place.
static void changed_lines_add(struct changed_lines *l, uint32_t row,
                              const struct frame_place *place,
                              const struct estimate side[SIDES]) {
  const struct wanted_line w = {l, row, place->line};
  const uint64_t key[] = {row, (uint64_t)place->line};
  const uint32_t next = (uint32_t)l->count;
  const uint32_t id =
      intern_find(&l->set, intern_hash(0, key, sizeof key), next, is_line, &w);
  if (id == next)
    *APPEND(l->items, l->count, l->capacity) =
        (struct changed_line){.row = row, .place = *place};
  if (side[NEW].value != 0)
    l->items[id].place = *place;
  for (unsigned n = 0; n < SIDES; n++)
    l->items[id].side[n] += side[n].value;
}

static bool is_only(const struct changed_line *c, unsigned side) {
  return c->side[OLD] != c->side[NEW] && c->side[side == OLD ? NEW : OLD] == 0;
}

static double difference_of(const struct changed_line *c) {
  return fabs(c->side[NEW] - c->side[OLD]);
}

// Returns, for each of `rows` functions, the line with the largest difference,
// or NULL if no stack of the function was added. A line that is only on the old
// side is not chosen if another one is only on the new side with at least half
// of the value: the new build has probably moved the line. The caller frees the
// array.
static const struct changed_line **
changed_lines_choose(const struct changed_lines *l, size_t rows) {
  const struct changed_line **chosen = zeroed(rows, sizeof(*chosen));
  double *moved = zeroed(rows, sizeof *moved); // largest value of a new line
  for (size_t i = 0; i < l->count; i++) {
    const struct changed_line *c = &l->items[i];
    if (is_only(c, NEW))
      moved[c->row] = fmax(moved[c->row], difference_of(c));
  }
  for (size_t i = 0; i < l->count; i++) {
    const struct changed_line *c = &l->items[i];
    const struct changed_line *best = chosen[c->row];
    if (is_only(c, OLD) && 2 * moved[c->row] >= difference_of(c))
      continue;
    if (!best || difference_of(c) > difference_of(best) ||
        (difference_of(c) == difference_of(best) &&
         fabs(c->side[NEW]) > fabs(best->side[NEW])))
      chosen[c->row] = c;
  }
  free(moved);
  return chosen;
}

static void changed_lines_free(struct changed_lines *l) {
  free(l->items);
  intern_free(&l->set);
}

// --- the rows ---

struct wanted {
  const struct changes *c;
  const struct shown_frame *frames;
  uint32_t count;
  bool has_via;     // whether the library functions must be equal, too
  double new_value; // of the stack, absolute
};

static bool is_change(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct change *row = &w->c->rows[index];
  return row->count == w->count &&
         (w->count == 0 || shown_are_equal(&w->c->frames[row->first], w->frames,
                                           w->count, w->has_via));
}

static struct change *row_of(struct changes *c, struct intern *set,
                             const struct wanted *w) {
  const uint32_t next = (uint32_t)c->count;
  const uint32_t id = intern_find(
      set, shown_hash(w->frames, w->count, w->has_via), next, is_change, w);
  if (id == next) {
    *APPEND(c->rows, c->count, c->capacity) = (struct change){
        .first = c->frame_count, .count = w->count, .new_value = w->new_value};
    for (uint32_t i = 0; i < w->count; i++)
      *APPEND(c->frames, c->frame_count, c->frame_capacity) = w->frames[i];
  } else if (!w->has_via && w->count) {
    // Name the library function only if it is the same in all stacks.
    struct shown_frame *f = &c->frames[c->rows[id].first];
    if (f->via != w->frames->via)
      f->via = NO_FRAME;
  }
  struct change *row = &c->rows[id];
  if (w->new_value > row->new_value) {
    row->new_value = w->new_value;
    for (uint32_t i = 0; i < w->count; i++)
      c->frames[row->first + i].place = w->frames[i].place;
  }
  return row;
}

static void add(struct estimate *sum, struct estimate e) {
  sum->value += e.value;
  sum->variance += e.variance;
  sum->files = e.files;
}

// Gives each function the place that has changed most.
static void set_places(struct changes *c, const struct changed_lines *lines) {
  const struct changed_line **chosen = changed_lines_choose(lines, c->count);
  for (size_t i = 0; i < c->count; i++)
    if (chosen[i])
      c->frames[c->rows[i].first].place = chosen[i]->place;
  free(chosen);
}

static void add_stacks(struct changes *c, const struct sides *s,
                       const struct change_options *o) {
  const struct view *v = c->view;
  struct intern set = {0};
  struct changed_lines lines = {0};
  struct shown_frame *frames = zeroed(view_depth(v), sizeof *frames);
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *k = &v->stacks[i];
    struct estimate side[SIDES];
    for (unsigned n = 0; n < SIDES; n++)
      side[n] = sides_value(s, n, v->type, k);
    if (side[OLD].value == 0 && side[NEW].value == 0)
      continue;
    struct wanted w = {.c = c,
                       .frames = frames,
                       .count = view_shown(v, k, o->keeps_std, frames),
                       .has_via = o->key == BY_STACK,
                       .new_value = fabs(side[NEW].value)};
    if (o->key == BY_FUNCTION && w.count > 1)
      w.count = 1;
    struct change *row = row_of(c, &set, &w);
    if (o->key == BY_FUNCTION && w.count == 1)
      changed_lines_add(&lines, (uint32_t)(row - c->rows), &frames->place,
                        side);
    for (unsigned n = 0; n < SIDES; n++)
      add(&row->side[n], side[n]);
    if (o->count_type >= 0)
      add(&row->blocks, sides_value(s, NEW, (unsigned)o->count_type, k));
  }
  set_places(c, &lines);
  changed_lines_free(&lines);
  free(frames);
  intern_free(&set);
}

static int compare_keys(const struct change *a, const struct change *b,
                        double x, double y) {
  if (a->is_noise != b->is_noise)
    return a->is_noise ? 1 : -1;
  if (x != y)
    return x > y ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

static int by_size(const void *x, const void *y) {
  const struct change *a = x, *b = y;
  return compare_keys(a, b, fabs(a->difference), fabs(b->difference));
}

static int by_difference(const void *x, const void *y) {
  const struct change *a = x, *b = y;
  return compare_keys(a, b, a->difference, b->difference);
}

struct changes changes_of(const struct sides *s, const struct view *v,
                          const struct change_options *o) {
  struct changes c = {.view = v};
  add_stacks(&c, s, o);
  for (size_t i = 0; i < c.count; i++) {
    struct change *row = &c.rows[i];
    if (o->is_exact)
      row->side[OLD].variance = row->side[NEW].variance = row->blocks.variance =
          0;
    row->difference = row->side[NEW].value - row->side[OLD].value;
    row->error = sqrt(row->side[NEW].variance + row->side[OLD].variance);
    row->is_noise =
        row->difference == 0 || fabs(row->difference) < 2 * row->error;
    c.noise_count += row->is_noise && row->difference != 0;
  }
  if (c.count)
    qsort(c.rows, c.count, sizeof *c.rows,
          o->by_growth ? by_difference : by_size);
  return c;
}

void changes_free(struct changes *c) {
  free(c->rows);
  free(c->frames);
}

void changes_print_frames(const struct changes *c, const struct change *row,
                          FILE *out, const struct style *style) {
  for (uint32_t i = 0; i < row->count;) {
    const struct shown_frame *frames = &c->frames[row->first];
    // A function that calls itself is printed once.
    uint32_t repeats = 1;
    while (i + repeats < row->count &&
           frames[i + repeats].frame == frames[i].frame)
      repeats++;
    const struct frame_text text = frame_parts(c->view, &frames[i]);
    fputs("    ", out);
    style_put_parts(out, text.text, style->width > 4 ? style->width - 4 : 0);
    if (repeats > 1)
      fprintf(out, "  (%u times)", repeats);
    fputc('\n', out);
    i += repeats;
  }
  if (row->count == 0)
    fputs("    [no stack]\n", out);
}
