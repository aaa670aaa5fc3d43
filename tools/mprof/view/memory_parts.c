// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/memory_parts.h"

#include "common/memory.h"
#include "common/saturate.h"

#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {"rss", "pss", "private_dirty", "swap",
                                         "used_beside"};
enum { NEEDED = 4, TYPES = sizeof type_names / sizeof *type_names };

bool memory_is(const struct profile *p) {
  for (size_t i = 0; i < NEEDED; i++)
    if (profile_find_type(p, type_names[i]) < 0)
      return false;
  return true;
}

static int64_t *value_at(struct memory_usage *u, size_t type) {
  int64_t *const values[] = {&u->rss, &u->pss, &u->private_dirty, &u->swap,
                             &u->used_beside};
  return values[type];
}

static void add(struct memory_usage *sum, const struct profile *p,
                uint32_t sample) {
  for (size_t i = 0; i < TYPES; i++) {
    const int type = profile_find_type(p, type_names[i]);
    if (type >= 0)
      add_to(value_at(sum, i),
             p->values[sample * (size_t)p->type_count + (size_t)type]);
  }
}

// Returns the number of the part whose name is the outermost frame of the
// sample, or MPROF_MEMORY_PART_COUNT.
static unsigned part_of(const struct profile *p, const struct sample *s) {
  if (s->location_count == 0)
    return MPROF_MEMORY_PART_COUNT;
  const uint32_t root =
      p->stack_locations[s->first_location + s->location_count - 1];
  const struct location *l = &p->locations[root];
  if (l->line_count == 0)
    return MPROF_MEMORY_PART_COUNT;
  const uint32_t f = p->lines[l->first_line + l->line_count - 1].function;
  const char *name = p->strings[p->functions[f].name];
  unsigned i = 0;
  while (i < MPROF_MEMORY_PART_COUNT &&
         strcmp(mprof_memory_part_name(i), name) != 0)
    i++;
  return i;
}

// --- rows ---

static int by_name(const void *a, const void *b) {
  const struct memory_row *x = a, *y = b;
  return strcmp(x->name, y->name);
}

static int by_rss(const struct memory_usage *x, const struct memory_usage *y) {
  return (x->rss < y->rss) - (x->rss > y->rss);
}

static int rows_by_rss(const void *a, const void *b) {
  const struct memory_row *x = a, *y = b;
  const int order = by_rss(&x->usage, &y->usage);
  return order ? order : by_name(a, b);
}

static int parts_by_rss(const void *a, const void *b) {
  const struct memory_part *x = a, *y = b;
  const int order = by_rss(&x->usage, &y->usage);
  return order ? order : (int)x->id - (int)y->id;
}

// Makes one row of those with equal names, and sorts the rows.
static void merge_rows(struct memory_part *part) {
  size_t n = 0;
  if (part->row_count == 0)
    return;
  qsort(part->rows, part->row_count, sizeof *part->rows, by_name);
  for (size_t i = 1; i < part->row_count; i++) {
    if (strcmp(part->rows[n].name, part->rows[i].name) != 0) {
      part->rows[++n] = part->rows[i];
      continue;
    }
    for (size_t k = 0; k < TYPES; k++)
      add_to(value_at(&part->rows[n].usage, k),
             *value_at(&part->rows[i].usage, k));
    free(part->rows[i].name);
  }
  part->row_count = n + 1;
  qsort(part->rows, part->row_count, sizeof *part->rows, rows_by_rss);
}

bool memory_parts_of(const struct view *v, struct memory_parts *m) {
  const struct profile *p = v->profile;
  struct shown_frame *shown = zeroed(view_depth(v) + 1, sizeof *shown);
  bool is_good = true;
  *m = (struct memory_parts){.count = MPROF_MEMORY_PART_COUNT};
  for (unsigned i = 0; i < m->count; i++)
    m->parts[i] =
        (struct memory_part){.id = i, .text = mprof_memory_part_text(i)};
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *s = &v->stacks[i];
    const unsigned id = part_of(p, &p->samples[s->sample]);
    if (id == MPROF_MEMORY_PART_COUNT) {
      is_good = false;
      continue;
    }
    struct memory_part *part = &m->parts[id];
    const uint32_t depth = view_shown(v, s, false, shown);
    struct memory_row *row =
        APPEND(part->rows, part->row_count, part->row_capacity);
    *row = (struct memory_row){
        text_of("%s", depth > 1 ? frame_parts(v, &shown[0]).text : ""), {0}};
    add(&row->usage, p, s->sample);
    add(&part->usage, p, s->sample);
    add(&m->total, p, s->sample);
  }
  for (unsigned i = 0; i < m->count; i++)
    merge_rows(&m->parts[i]);
  qsort(m->parts, m->count, sizeof *m->parts, parts_by_rss);
  while (m->count > 0 && m->parts[m->count - 1].row_count == 0)
    m->count--;
  free(shown);
  return is_good;
}

const struct memory_part *memory_part_find(const struct memory_parts *m,
                                           enum mprof_memory_part id) {
  for (size_t i = 0; i < m->count; i++)
    if (m->parts[i].id == id)
      return &m->parts[i];
  return NULL;
}
