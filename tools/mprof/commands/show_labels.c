// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_labels.h"

#include "common/memory.h"
#include "common/plural.h"
#include "common/saturate.h"
#include "terminal/style.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 4 };

struct counted {
  struct label label;
  uint64_t count;
};

static int by_label(const void *x, const void *y) {
  const struct label *a = &((const struct counted *)x)->label;
  const struct label *b = &((const struct counted *)y)->label;
  if (a->key != b->key)
    return a->key < b->key ? -1 : 1;
  if (a->str != b->str)
    return a->str < b->str ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

// Adds up equal labels of a sorted array. Returns the new length.
static size_t add_up(struct counted *items, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (kept && by_label(&items[kept - 1], &items[i]) == 0)
      items[kept - 1].count += items[i].count;
    else
      items[kept++] = items[i];
  return kept;
}

static int by_count(const void *x, const void *y) {
  const struct counted *a = x, *b = y;
  return a->count != b->count ? (a->count > b->count ? -1 : 1) : by_label(x, y);
}

static void print_key(const struct view *v, struct counted *items, size_t count,
                      FILE *out) {
  const char **strings = v->profile->strings;
  qsort(items, count, sizeof *items, by_count);
  fputs("    ", out);
  style_put(out, strings[items[0].label.key]);
  fputs(": ", out);
  for (size_t i = 0; i < count && i < MAX_VALUES; i++) {
    const struct label *l = &items[i].label;
    if (i)
      fputs(", ", out);
    if (l->str)
      style_put(out, strings[l->str]);
    else
      fprintf(out, "%" PRId64, l->number);
  }
  if (count > MAX_VALUES)
    fprintf(out, " and %zu other%s", count - MAX_VALUES,
            plural(count - MAX_VALUES));
  fputc('\n', out);
}

void show_labels(const struct view *v, const struct stack_table *t,
                 const struct stack_row *row, FILE *out) {
  const struct profile *p = v->profile;
  struct counted *items = NULL;
  size_t count = 0, capacity = 0;
  for (uint32_t i = row->first_stack; i != NO_STACK; i = t->next_stack[i]) {
    const struct sample *s = &p->samples[v->stacks[i].sample];
    for (uint32_t k = 0; k < s->label_count; k++) {
      const struct label *l = &p->labels[s->first_label + k];
      if (strcmp(p->strings[l->key], "bytes") != 0)
        *APPEND(items, count, capacity) =
            (struct counted){*l, (uint64_t)size_of(v->stacks[i].value)};
    }
  }
  if (count)
    qsort(items, count, sizeof *items, by_label);
  count = add_up(items, count);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i; end < count && items[end].label.key == items[i].label.key;)
      end++;
    print_key(v, items + i, end - i, out);
  }
  free(items);
}
