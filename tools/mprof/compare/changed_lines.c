// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compare/changed_lines.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>

struct wanted {
  const struct changed_lines *lines;
  uint32_t row;
  int64_t line;
};

static bool is_line(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct changed_line *c = &w->lines->items[index];
  return c->row == w->row && c->place.line == w->line;
}

void changed_lines_add(struct changed_lines *l, uint32_t row,
                       const struct frame_place *place,
                       const struct estimate side[SIDES]) {
  const struct wanted w = {l, row, place->line};
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

const struct changed_line **changed_lines_choose(const struct changed_lines *l,
                                                 size_t rows) {
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

void changed_lines_free(struct changed_lines *l) {
  free(l->items);
  intern_free(&l->set);
}
