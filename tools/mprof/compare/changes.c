// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compare/changes.h"

#include "common/memory.h"
#include "compare/changed_lines.h"
#include "view/shown_frames.h"

#include <math.h>
#include <stdlib.h>

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
