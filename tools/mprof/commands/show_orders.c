// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_orders.h"

#include "common/memory.h"
#include "common/plural.h"
#include "terminal/style.h"
#include "view/shown_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A part of a cycle: a lock that a thread holds or takes.
struct part {
  int64_t cycle;
  const char *step; // "1 of 2: holds"
  const char *lock;
  struct frame_text where;
};

static int by_cycle(const void *a, const void *b) {
  const struct part *x = a, *y = b;
  if (x->cycle != y->cycle)
    return x->cycle < y->cycle ? -1 : 1;
  return strcmp(x->step, y->step);
}

static struct part part_of(const struct view *v, const struct view_stack *s,
                           struct shown_frame *frames) {
  const struct profile *p = v->profile;
  const struct sample *sample = &p->samples[s->sample];
  struct part part = {.step = "", .lock = "an unknown lock"};
  for (uint32_t k = 0; k < sample->label_count; k++) {
    const struct label *l = &p->labels[sample->first_label + k];
    const char *key = p->strings[l->key], *text = p->strings[l->str];
    if (strcmp(key, "cycle") == 0)
      part.cycle = strtoll(text, NULL, 10);
    else if (strcmp(key, "step") == 0)
      part.step = text;
    else if (strcmp(key, "lock") == 0)
      part.lock = text;
  }
  strcpy(part.where.text, "[unknown stack]");
  if (view_shown(v, s, false, frames) != 0)
    part.where = frame_text(v, &frames[0]);
  return part;
}

void show_orders(const struct view *v, int64_t limit, FILE *out) {
  struct part *parts = zeroed(v->stack_count, sizeof *parts);
  struct shown_frame *frames = zeroed(view_depth(v) + 1, sizeof *frames);
  size_t cycles = 0;
  for (size_t i = 0; i < v->stack_count; i++)
    parts[i] = part_of(v, &v->stacks[i], frames);
  if (v->stack_count)
    qsort(parts, v->stack_count, sizeof *parts, by_cycle);
  for (size_t i = 0; i < v->stack_count; i++)
    cycles += i == 0 || parts[i].cycle != parts[i - 1].cycle;
  fprintf(out, "%zu potential deadlock%s: threads take the same locks in ",
          cycles, plural(cycles));
  fputs("different orders\n", out);
  size_t shown = 0;
  for (size_t i = 0; i < v->stack_count; i++) {
    const char *what = strchr(parts[i].step, ':');
    if (i == 0 || parts[i].cycle != parts[i - 1].cycle) {
      if ((int64_t)shown++ == limit)
        break;
      fprintf(out, "  cycle %" PRId64 "\n", parts[i].cycle);
    }
    fprintf(out, "    %-5s ", what ? what + 2 : "");
    style_put(out, parts[i].lock);
    fputs("  in ", out);
    style_put(out, parts[i].where.text);
    fputc('\n', out);
  }
  if (cycles > (size_t)limit)
    fprintf(out, "  and %zu more\n", cycles - (size_t)limit);
  free(frames);
  free(parts);
}
