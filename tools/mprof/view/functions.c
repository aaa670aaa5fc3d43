// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/functions.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "common/saturate.h"

#include <stdlib.h>
#include <string.h>

// The largest absolute value of one stack that ends with a frame, and the place
// of the frame in this stack.
struct largest {
  int64_t value;
  struct frame_place place;
};

struct adder {
  const struct view *v;
  struct function_row *rows; // of each frame
  // The value of each pair of a frame and the library function beneath it.
  struct via {
    uint32_t frame, callee;
    int64_t value;
    struct largest largest;
  } *vias;
  size_t via_count, via_capacity;
  struct idmap via_set;
  struct largest *own;  // of each frame
  uint32_t *last_stack; // of each frame: index + 1 of the last stack with it
  struct shown_frame *shown; // of the stack that is being added
};

static void note_largest(struct largest *largest,
                         const struct shown_frame *leaf, int64_t value) {
  if (size_of(value) <= largest->value)
    return;
  *largest = (struct largest){size_of(value), leaf->place};
}

static void add_via(struct adder *a, const struct shown_frame *leaf,
                    int64_t value) {
  const uint32_t frame = leaf->frame, callee = leaf->via;
  const size_t id =
      idmap_get(&a->via_set, (uint64_t)frame << 32 | callee, a->via_count);
  if (id == a->via_count)
    *APPEND(a->vias, a->via_count, a->via_capacity) =
        (struct via){.frame = frame, .callee = callee};
  struct via *via = &a->vias[id];
  add_to(&via->value, size_of(value));
  note_largest(&via->largest, leaf, value);
}

static void add_stack(struct adder *a, uint32_t index, bool keeps_std) {
  const struct view *v = a->v;
  const struct view_stack *s = &v->stacks[index];
  const uint32_t count = view_shown(v, s, keeps_std, a->shown);
  if (count == 0)
    return;
  const struct shown_frame *leaf = &a->shown[0];
  struct function_row *own = &a->rows[leaf->frame];
  add_to(&own->flat, s->value);
  own->flat_variance += s->variance;
  note_largest(&a->own[leaf->frame], leaf, s->value);
  if (leaf->via != NO_FRAME)
    add_via(a, leaf, s->value);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t frame = a->shown[i].frame;
    if (a->last_stack[frame] == index + 1)
      continue; // a recursive function counts once
    a->last_stack[frame] = index + 1;
    add_to(&a->rows[frame].cum, s->value);
    a->rows[frame].cum_variance += s->variance;
  }
}

// Chooses the place of each frame. Keeps the via of each frame if it has most
// of the frame's own value, so that a row with several causes does not seem to
// have only one.
static void choose_examples(struct adder *a) {
  for (size_t i = 0; i < a->v->frame_count; i++)
    if (a->own[i].value > 0)
      a->rows[i].shown.place = a->own[i].place;
  for (size_t i = 0; i < a->via_count; i++) {
    const struct via *via = &a->vias[i];
    struct function_row *row = &a->rows[via->frame];
    if (via->value >= size_of(row->flat) - size_of(row->flat) / 3) {
      row->shown.via = via->callee;
      row->shown.place = via->largest.place;
    }
  }
}

static const struct view *sorted_view; // for the comparisons; one thread sorts

static int compare(const struct function_row *a, const struct function_row *b,
                   int64_t x, int64_t y, int64_t x2, int64_t y2) {
  if (size_of(x) != size_of(y))
    return size_of(x) > size_of(y) ? -1 : 1;
  const struct frame *f = &sorted_view->frames[a->shown.frame];
  const struct frame *g = &sorted_view->frames[b->shown.frame];
  const int names = strcmp(sorted_view->profile->strings[f->name],
                           sorted_view->profile->strings[g->name]);
  if (names)
    return names;
  if (size_of(x2) != size_of(y2))
    return size_of(x2) > size_of(y2) ? -1 : 1;
  if (f->line != g->line)
    return f->line < g->line ? -1 : 1;
  return (a->shown.frame > b->shown.frame) - (a->shown.frame < b->shown.frame);
}

static int by_cum_value(const void *x, const void *y) {
  const struct function_row *a = x, *b = y;
  return compare(a, b, a->cum, b->cum, a->flat, b->flat);
}

static int by_flat(const void *x, const void *y) {
  const struct function_row *a = x, *b = y;
  if (a->flat == 0 && b->flat == 0)
    return by_cum_value(x, y);
  return compare(a, b, a->flat, b->flat, a->cum, b->cum);
}

struct function_table functions_of(const struct view *v, bool keeps_std,
                                   bool by_cum) {
  struct adder a = {.v = v,
                    .rows = zeroed(v->frame_count, sizeof *a.rows),
                    .own = zeroed(v->frame_count, sizeof *a.own),
                    .last_stack = zeroed(v->frame_count, sizeof(uint32_t)),
                    .shown = zeroed(view_depth(v), sizeof *a.shown)};
  for (uint32_t i = 0; i < v->frame_count; i++)
    a.rows[i] =
        (struct function_row){.shown = {i, NO_FRAME, v->frames[i].example}};
  for (uint32_t i = 0; i < v->stack_count; i++)
    add_stack(&a, i, keeps_std);
  choose_examples(&a);
  struct function_table t = {.rows = a.rows};
  // A frame that is only part of another frame's value has no row.
  for (size_t i = 0; i < v->frame_count; i++)
    if (a.last_stack[i])
      a.rows[t.count++] = a.rows[i];
  sorted_view = v;
  qsort(t.rows, t.count, sizeof *t.rows, by_cum ? by_cum_value : by_flat);
  free(a.own);
  free(a.last_stack);
  free(a.shown);
  free(a.vias);
  idmap_clear(&a.via_set);
  return t;
}

void functions_free(struct function_table *t) { free(t->rows); }
