// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_orders.h"

#include "commands/sarif.h"
#include "common/memory.h"
#include "common/plural.h"
#include "names/lock_names.h"
#include "terminal/quantity.h"
#include "terminal/style.h"
#include "view/shown_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A part of a cycle: a lock that a thread holds or takes.
struct part {
  int64_t cycle, others; // others: cycles of other locks with the same stacks
  const char *step;      // "1 of 2: holds"
  const char *lock, *kind;
  struct shown_frame *frames; // leaf first
  uint32_t count;
};

// Returns whether parts[i] is the first one of a cycle. The files of several
// processes have cycles with the same number, one after the other.
static bool begins_cycle(const struct part *parts, size_t i) {
  return i == 0 || parts[i].cycle != parts[i - 1].cycle ||
         strtol(parts[i].step, NULL, 10) < strtol(parts[i - 1].step, NULL, 10);
}

static struct part part_of(const struct view *v, const struct view_stack *s) {
  const struct profile *p = v->profile;
  const struct sample *sample = &p->samples[s->sample];
  struct part part = {.step = "", .lock = "an unknown lock", .kind = "lock"};
  for (uint32_t k = 0; k < sample->label_count; k++) {
    const struct label *l = &p->labels[sample->first_label + k];
    const char *key = p->strings[l->key], *text = p->strings[l->str];
    if (strcmp(key, "cycle") == 0)
      part.cycle = strtoll(text, NULL, 10);
    else if (strcmp(key, "step") == 0)
      part.step = text;
    else if (strcmp(key, "lock") == 0)
      part.lock = text;
    else if (strcmp(key, "kind") == 0 && *text)
      part.kind = text;
    else if (strcmp(key, "other_cycles") == 0)
      part.others = l->number;
  }
  part.frames = zeroed(s->count + 1, sizeof *part.frames);
  part.count = view_shown(v, s, false, part.frames);
  return part;
}

// Returns the parts of all cycles in the order of the profile, in which those
// of a cycle are one after the other.
static struct part *parts_of(const struct view *v) {
  struct part *parts = zeroed(v->stack_count, sizeof *parts);
  for (size_t i = 0; i < v->stack_count; i++)
    parts[i] = part_of(v, &v->stacks[i]);
  return parts;
}

static void free_parts(const struct view *v, struct part *parts) {
  for (size_t i = 0; i < v->stack_count; i++)
    free(parts[i].frames);
  free(parts);
}

// Returns "holds" or "takes".
static const char *verb_of(const struct part *part) {
  const char *verb = strchr(part->step, ':');
  return verb ? verb + 2 : "";
}

void show_orders(const struct view *v, int64_t limit, FILE *out) {
  struct part *parts = parts_of(v);
  size_t cycles = 0;
  for (size_t i = 0; i < v->stack_count; i++)
    cycles += begins_cycle(parts, i);
  fprintf(out, "%zu potential deadlock%s: threads take the same locks in ",
          cycles, plural(cycles));
  fputs("different orders\n", out);
  size_t shown = 0;
  for (size_t i = 0; i < v->stack_count; i++) {
    if (begins_cycle(parts, i)) {
      if ((int64_t)shown++ == limit)
        break;
      fprintf(out, "  cycle %" PRId64, parts[i].cycle);
      if (parts[i].others > 0)
        fprintf(out, ", and %s of other locks at the same lines",
                quantity_of(parts[i].others, "count").text);
      fputc('\n', out);
    }
    fprintf(out, "    %-5s ", verb_of(&parts[i]));
    style_put(out, parts[i].lock);
    fputs("  in ", out);
    style_put(out, parts[i].count ? frame_text(v, &parts[i].frames[0]).text
                                  : "[unknown stack]");
    fputc('\n', out);
  }
  if (cycles > (size_t)limit)
    fprintf(out, "  and %zu more\n", cycles - (size_t)limit);
  free_parts(v, parts);
}

// Returns the name of the lock, or its kind, such as "a mutex", but not its
// address, which differs in each run. The caller frees it.
static char *lock_name(const struct part *part) {
  const size_t length = lock_name_length(part->lock);
  return length ? text_of("%.*s", (int)length, part->lock)
                : text_of("a %s", part->kind);
}

// Returns whether two cycles have the same stacks, as those of several
// processes of a program have.
static bool is_same(const struct sarif_result *a,
                    const struct sarif_result *b) {
  if (a->stack_count != b->stack_count || strcmp(a->message, b->message) != 0)
    return false;
  for (size_t i = 0; i < a->stack_count; i++)
    if (a->stacks[i].count != b->stacks[i].count ||
        !shown_are_equal(a->stacks[i].frames, b->stacks[i].frames,
                         a->stacks[i].count, true))
      return false;
  return true;
}

// Appends a cycle, unless an equal one is there. Its parts are the
// first ones of `parts`. Returns their number.
static size_t add_cycle(const struct view *v, const struct part *parts,
                        size_t count, struct sarif_results *results) {
  struct sarif_result r = {.rule = SARIF_LOCK_ORDER, .value = 1};
  char *text = text_of("potential deadlock"), *held = text_of("another lock");
  const char *comma = ": ";
  size_t used = 0;
  for (; used < count && (used == 0 || !begins_cycle(parts, used)); used++) {
    const struct part *part = &parts[used];
    const bool takes = strcmp(verb_of(part), "takes") == 0;
    char *lock = lock_name(part), *before = text;
    sarif_add_stack(&r, (struct sarif_stack){
                            .message = text_of("%s %s", verb_of(part), lock),
                            .frames = part->frames,
                            .count = part->count,
                            .continues = takes});
    if (!takes) {
      free(held);
      held = lock;
      continue;
    }
    const char *function =
        part->count ? v->profile->strings[v->frames[part->frames[0].frame].name]
                    : "unknown code";
    text = text_of("%s%s%s takes %s while its thread holds %s", before, comma,
                   function, lock, held);
    comma = "; ";
    if (!r.primary)
      r.primary = used;
    free(before);
    free(lock);
  }
  free(held);
  r.message = text;
  for (size_t i = 0; i < results->count; i++)
    if (is_same(&results->items[i], &r)) {
      sarif_free_result(&r);
      return used;
    }
  *APPEND(results->items, results->count, results->capacity) = r;
  return used;
}

size_t show_orders_sarif(const struct options *o, const struct view *v,
                         size_t limit) {
  struct part *parts = parts_of(v);
  struct sarif_results results = {0};
  for (size_t i = 0; i < v->stack_count && (!limit || results.count < limit);)
    i += add_cycle(v, &parts[i], v->stack_count - i, &results);
  sarif_print(stdout, o, v, &results);
  const size_t count = results.count;
  sarif_free(&results);
  free_parts(v, parts);
  return count;
}
