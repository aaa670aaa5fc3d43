// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/stacks.h"

#include "common/memory.h"
#include "common/saturate.h"

#include <stdlib.h>

// --- stacks ---

struct wanted_stack {
  const struct stack_table *t;
  const struct shown_frame *frames;
  uint32_t count;
};

static bool is_stack(const void *arg, uint32_t index) {
  const struct wanted_stack *w = arg;
  const struct stack_row *r = &w->t->rows[index];
  return r->count == w->count &&
         (w->count == 0 ||
          shown_are_equal(&w->t->frames[r->first], w->frames, w->count, true));
}

static int by_value(const void *x, const void *y) {
  const struct stack_row *a = x, *b = y;
  if (size_of(a->value) != size_of(b->value))
    return size_of(a->value) > size_of(b->value) ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

// Returns the row of a stack with these frames. value: of this stack.
static struct stack_row *row_of(struct stack_table *t, struct intern *set,
                                const struct shown_frame *frames,
                                uint32_t count, int64_t value) {
  const struct wanted_stack w = {t, frames, count};
  const uint32_t next = (uint32_t)t->count;
  const uint32_t id =
      intern_find(set, shown_hash(frames, count, true), next, is_stack, &w);
  if (id == next) {
    *APPEND(t->rows, t->count, t->capacity) =
        (struct stack_row){.first = t->frame_count,
                           .count = count,
                           .first_stack = NO_STACK,
                           .largest = size_of(value)};
    for (uint32_t i = 0; i < count; i++)
      *APPEND(t->frames, t->frame_count, t->frame_capacity) = frames[i];
  }
  struct stack_row *row = &t->rows[id];
  if (size_of(value) > row->largest) {
    row->largest = size_of(value);
    for (uint32_t i = 0; i < count; i++)
      t->frames[row->first + i].place = frames[i].place;
  }
  return row;
}

struct stack_table stacks_of(const struct view *v, bool keeps_std) {
  struct stack_table t = {0};
  struct intern set = {0};
  struct shown_frame *frames = zeroed(view_depth(v), sizeof *frames);
  t.next_stack = zeroed(v->stack_count, sizeof *t.next_stack);
  for (uint32_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *s = &v->stacks[i];
    const uint32_t count = view_shown(v, s, keeps_std, frames);
    struct stack_row *row = row_of(&t, &set, frames, count, s->value);
    t.next_stack[i] = NO_STACK;
    if (row->samples++)
      t.next_stack[row->last_stack] = i;
    else
      row->first_stack = i;
    row->last_stack = i;
    add_to(&row->value, s->value);
    row->variance += s->variance;
  }
  free(frames);
  intern_free(&set);
  if (t.count)
    qsort(t.rows, t.count, sizeof *t.rows, by_value);
  return t;
}

void stacks_free(struct stack_table *t) {
  free(t->rows);
  free(t->frames);
  free(t->next_stack);
}

// --- call tree ---

struct wanted_node {
  const struct call_tree *t;
  uint32_t parent;
  const struct shown_frame *shown;
};

static bool is_node(const void *arg, uint32_t index) {
  const struct wanted_node *w = arg;
  const struct call_node *n = &w->t->nodes[index];
  return n->parent == w->parent &&
         shown_are_equal(&n->shown, w->shown, 1, true);
}

static uint32_t child_of(struct call_tree *t, struct intern *set,
                         uint32_t parent, const struct shown_frame *shown) {
  const struct wanted_node w = {t, parent, shown};
  const uint32_t key[] = {parent, shown->frame, shown->via};
  const uint32_t next = (uint32_t)t->count;
  const uint32_t id =
      intern_find(set, intern_hash(0, key, sizeof key), next, is_node, &w);
  if (id == next)
    *APPEND(t->nodes, t->count, t->capacity) =
        (struct call_node){.parent = parent, .shown = *shown, .largest = -1};
  return id;
}

// Adds a stack to the tree. frames: its shown frames, leaf first.
static void add_calls(struct call_tree *t, struct intern *set,
                      const struct shown_frame *frames, uint32_t count,
                      int64_t value) {
  uint32_t node = 0;
  bool is_example = false;
  add_to(&t->nodes[0].total, value);
  for (uint32_t k = count; k-- > 0;) {
    // Frames that call themselves are one node.
    if (!node || !shown_are_equal(&t->nodes[node].shown, &frames[k], 1, true)) {
      node = child_of(t, set, node, &frames[k]);
      struct call_node *n = &t->nodes[node];
      add_to(&n->total, value);
      is_example = size_of(value) > n->largest;
      if (is_example)
        n->largest = size_of(value);
    }
    if (is_example)
      t->nodes[node].shown.place = frames[k].place;
  }
  add_to(&t->nodes[node].own, value);
}

static const struct call_tree *sorted_tree; // for by_total; one thread sorts

static int by_total(const void *x, const void *y) {
  const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  const int64_t p = size_of(sorted_tree->nodes[a].total);
  const int64_t q = size_of(sorted_tree->nodes[b].total);
  return p != q ? (p > q ? -1 : 1) : (a > b) - (a < b);
}

uint32_t *calls_by_total(const struct call_tree *t) {
  uint32_t *order = zeroed(t->count, sizeof *order);
  for (uint32_t i = 0; i < t->count; i++)
    order[i] = i;
  sorted_tree = t;
  qsort(order, t->count, sizeof *order, by_total);
  sorted_tree = NULL;
  return order;
}

// Links the children of each node, those with the largest totals first.
static void link_children(struct call_tree *t) {
  uint32_t *order = calls_by_total(t);
  for (size_t i = t->count; i-- > 0;) {
    struct call_node *n = &t->nodes[order[i]];
    if (order[i] == 0)
      continue;
    n->next_sibling = t->nodes[n->parent].first_child;
    t->nodes[n->parent].first_child = order[i];
  }
  free(order);
}

struct call_tree calls_of(const struct view *v, bool keeps_std) {
  struct call_tree t = {0};
  struct intern set = {0};
  *APPEND(t.nodes, t.count, t.capacity) =
      (struct call_node){.shown = {.frame = NO_FRAME, .via = NO_FRAME}};
  struct shown_frame *frames = zeroed(view_depth(v), sizeof *frames);
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *s = &v->stacks[i];
    add_calls(&t, &set, frames, view_shown(v, s, keeps_std, frames), s->value);
  }
  free(frames);
  intern_free(&set);
  link_children(&t);
  return t;
}

void calls_free(struct call_tree *t) { free(t->nodes); }
