// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof locks: which code waited for a lock, and which code held it meanwhile.

#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/options.h"
#include "commands/sections.h"
#include "common/memory.h"
#include "common/saturate.h"
#include "files/json.h"
#include "names/lock_names.h"
#include "terminal/markup.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/shown_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The frames between the parts of a sample's stack (rt/write/kind_locks.c).
static const char released[] = "[released in]", no_release[] = "[no release]",
                  taken[] = "[taken in]", made[] = "[lock made in]",
                  no_waiter[] = "[unknown waiter]";

enum value { DELAY, CONTENTIONS, HELD, HELD_WAITING, VALUES };
static const char *const value_names[VALUES] = {"delay", "contentions", "held",
                                                "held_waiting"};

// The parts of a stack; count is 0 if the part is not known.
enum part { WAITER, RELEASE, TAKEN, MADE, PARTS };
struct part_frames {
  size_t first; // in pairs.frames, leaf first
  uint32_t count;
};

struct pair {
  string_id lock, kind, waiter, holder; // labels
  bool has_more_locks;                  // others with the name of `lock`
  struct part_frames parts[PARTS];
  int64_t value; // of the view
  int64_t values[VALUES];
  int64_t worst, queue;
  int64_t offset; // of the lock in the block of MADE
};

struct pairs {
  struct pair *items;
  struct shown_frame *frames;
  size_t count, capacity, frame_count, frame_capacity;
  unsigned types[VALUES];
};

// --- reading ---

static bool is_named(const struct view *v, const struct shown_frame *f,
                     const char *name) {
  return strcmp(v->profile->strings[v->frames[f->frame].name], name) == 0;
}

// Divides the shown frames of a stack into its parts.
static void divide(struct pairs *all, struct pair *pair, const struct view *v,
                   const struct shown_frame *frames, uint32_t count) {
  enum part part = WAITER;
  for (int i = 0; i < PARTS; i++)
    pair->parts[i] = (struct part_frames){.first = all->frame_count};
  for (uint32_t i = 0; i < count; i++) {
    const struct shown_frame *f = &frames[i];
    const enum part begins = is_named(v, f, released) ? RELEASE
                             : is_named(v, f, taken)  ? TAKEN
                             : is_named(v, f, made)   ? MADE
                                                      : WAITER;
    if (begins != WAITER) {
      part = begins;
      pair->parts[part].first = all->frame_count;
    } else if (!is_named(v, f, no_release) && !is_named(v, f, no_waiter)) {
      *APPEND(all->frames, all->frame_count, all->frame_capacity) = *f;
      pair->parts[part].count++;
    }
  }
}

static void read_labels(struct pair *pair, const struct profile *p,
                        const struct sample *s) {
  for (uint32_t i = 0; i < s->label_count; i++) {
    const struct label *l = &p->labels[s->first_label + i];
    const char *key = p->strings[l->key];
    if (strcmp(key, "lock") == 0)
      pair->lock = l->str;
    else if (strcmp(key, "kind") == 0)
      pair->kind = l->str;
    else if (strcmp(key, "waiter_access") == 0)
      pair->waiter = l->str;
    else if (strcmp(key, "holder_access") == 0)
      pair->holder = l->str;
    else if (strcmp(key, "worst_wait") == 0)
      pair->worst = l->number;
    else if (strcmp(key, "longest_queue") == 0)
      pair->queue = l->number;
    else if (strcmp(key, "lock_offset") == 0)
      pair->offset = l->number;
  }
}

// Returns whether two pairs have one lock, locks with the same name, or locks
// in blocks of the same origin. The caller compares the lines of the origins.
static bool is_same_lock(const struct profile *p, const struct pair *x,
                         const struct pair *y) {
  const char *a = p->strings[x->lock], *b = p->strings[y->lock];
  const size_t length = lock_name_length(a);
  return x->lock == y->lock ||
         (length == lock_name_length(b) &&
          (length != 0 ? memcmp(a, b, length) == 0
                       : x->parts[MADE].count && x->offset == y->offset));
}

// Returns whether two pairs are one row: the same lock and the same lines.
static bool is_same(const struct profile *p, const struct pairs *all,
                    const struct pair *x, const struct pair *y) {
  for (int i = 0; i < PARTS; i++) {
    const struct part_frames *a = &x->parts[i], *b = &y->parts[i];
    if ((a->count == 0) != (b->count == 0) ||
        (a->count != 0 && !shown_are_equal(&all->frames[a->first],
                                           &all->frames[b->first], 1, true)))
      return false;
  }
  return is_same_lock(p, x, y) && x->kind == y->kind &&
         x->waiter == y->waiter && x->holder == y->holder;
}

static int by_value(const void *x, const void *y) {
  const struct pair *a = x, *b = y;
  if (size_of(a->value) != size_of(b->value))
    return size_of(a->value) > size_of(b->value) ? -1 : 1;
  return (a->parts[0].first > b->parts[0].first) -
         (a->parts[0].first < b->parts[0].first);
}

static void add_pair(const struct profile *p, struct pairs *all,
                     const struct pair *pair) {
  for (size_t i = 0; i < all->count; i++) {
    struct pair *x = &all->items[i];
    if (!is_same(p, all, x, pair))
      continue;
    x->has_more_locks |= x->lock != pair->lock;
    add_to(&x->value, pair->value);
    for (int k = 0; k < VALUES; k++)
      add_to(&x->values[k], pair->values[k]);
    x->worst = pair->worst > x->worst ? pair->worst : x->worst;
    x->queue = pair->queue > x->queue ? pair->queue : x->queue;
    return;
  }
  *APPEND(all->items, all->count, all->capacity) = *pair;
}

static struct pairs pairs_of(const struct view *v, bool keeps_std) {
  const struct profile *p = v->profile;
  struct pairs all = {0};
  struct shown_frame *frames = zeroed(view_depth(v), sizeof *frames);
  for (int k = 0; k < VALUES; k++)
    all.types[k] = (unsigned)profile_find_type(p, value_names[k]);
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *s = &v->stacks[i];
    struct pair pair = {.value = s->value};
    divide(&all, &pair, v, frames, view_shown(v, s, keeps_std, frames));
    read_labels(&pair, p, &p->samples[s->sample]);
    for (int k = 0; k < VALUES; k++)
      pair.values[k] =
          p->values[(size_t)s->sample * p->type_count + all.types[k]];
    add_pair(p, &all, &pair);
  }
  free(frames);
  if (all.count)
    qsort(all.items, all.count, sizeof *all.items, by_value);
  return all;
}

// --- text ---

static const struct shown_frame *
leaf_of(const struct pairs *all, const struct pair *pair, enum part part) {
  const struct part_frames *f = &pair->parts[part];
  return f->count ? &all->frames[f->first] : NULL;
}

// Returns "NAME  FILE:LINE" of the innermost frame that is the user's. The
// caller frees it.
static char *place_of(const struct view *v, const struct pairs *all,
                      const struct pair *pair, enum part part) {
  const struct shown_frame *f = leaf_of(all, pair, part);
  if (f == NULL)
    return text_of("?");
  struct shown_frame plain = *f;
  plain.via = NO_FRAME;
  return text_of("%s", frame_text(v, &plain).text);
}

// Returns where the holder took and released the lock. In one function, as
// "NAME  FILE:LINE -> LINE". The caller frees it.
static char *holder_of(const struct view *v, const struct pairs *all,
                       const struct pair *pair) {
  if (!pair->parts[RELEASE].count)
    return text_of("not seen");
  const struct shown_frame *a = leaf_of(all, pair, TAKEN),
                           *b = leaf_of(all, pair, RELEASE);
  char *from = place_of(v, all, pair, TAKEN);
  const struct frame *x = a ? &v->frames[a->frame] : NULL,
                     *y = &v->frames[b->frame];
  if (x && x->name == y->name && x->file == y->file && x->line && y->line) {
    char *text = x->line == y->line ? text_of("%s", from)
                                    : text_of("%s -> %" PRId64, from, y->line);
    free(from);
    return text;
  }
  char *to = place_of(v, all, pair, RELEASE);
  char *text = text_of("%s -> %s", from, to);
  free(from);
  free(to);
  return text;
}

// Returns the name and the address of the lock, or only the name that several
// locks have. A lock without a name is described by the origin of its block.
// The caller frees it.
static char *lock_of(const struct view *v, const struct pairs *all,
                     const struct pair *pair) {
  const char *text = v->profile->strings[pair->lock];
  if (pair->parts[MADE].count && !lock_name_length(text)) {
    char *place = place_of(v, all, pair, MADE);
    // The leaf of an allocation by operator new may be the type of the block.
    static const char type[] = "typeinfo name for ";
    const bool is_type = strncmp(place, type, strlen(type)) == 0;
    char *lock = text_of("+%" PRId64 " in %s%s", pair->offset,
                         is_type ? "" : "block of ",
                         place + (is_type ? strlen(type) : 0));
    free(place);
    return lock;
  }
  return text_of(
      "%.*s",
      (int)(pair->has_more_locks ? lock_name_length(text) : strlen(text)),
      text);
}

static char *lock_name(const struct view *v, const struct pairs *all,
                       const struct pair *pair) {
  const char **strings = v->profile->strings;
  char *lock = lock_of(v, all, pair);
  char *text = text_of("%s %s%s%s%s%s", strings[pair->kind], *lock ? lock : "?",
                       pair->waiter ? ", " : "", strings[pair->waiter],
                       pair->holder ? " behind " : "", strings[pair->holder]);
  free(lock);
  return text;
}

static void add_text(struct table *t, char *text) {
  table_cell(t, text);
  free(text);
}

static struct table *table_of_pairs(const struct view *v,
                                    const struct pairs *all, size_t count) {
  struct table *t = table_new();
  table_column(t, v->type_name, ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, "waits", ALIGN_RIGHT);
  table_column(t, "worst", ALIGN_RIGHT);
  table_column(t, "held", ALIGN_RIGHT);
  table_column(t, "queue", ALIGN_RIGHT);
  table_column(t, "waiter", ALIGN_LEFT);
  table_column(t, "holder: taken -> released", ALIGN_LEFT);
  table_column(t, "lock", ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    const struct pair *pair = &all->items[i];
    table_cell(t, quantity_of(pair->value, v->unit).text);
    table_cell(t, quantity_share(pair->value, v->total).text);
    table_cell(t, quantity_of(pair->values[CONTENTIONS], "count").text);
    table_cell(t, quantity_of(pair->worst, "nanoseconds").text);
    table_cell(t, pair->parts[TAKEN].count
                      ? quantity_of(pair->values[HELD], "nanoseconds").text
                      : "?");
    table_cell(t, quantity_of(pair->queue, "count").text);
    add_text(t, place_of(v, all, pair, WAITER));
    add_text(t, holder_of(v, all, pair));
    add_text(t, lock_name(v, all, pair));
  }
  return t;
}

void locks_section(const struct view *v, size_t limit) {
  struct pairs all = pairs_of(v, false);
  const size_t count = limit && limit < all.count ? limit : all.count;
  if (!count)
    return;
  const struct pair *first = &all.items[0];
  char *waiter = place_of(v, &all, first, WAITER),
       *holder = holder_of(v, &all, first);
  printf("\n## Who waited for whom\n\nThreads waited %s for locks; ",
         quantity_of(v->total, v->unit).text);
  printf("%s of it in ", quantity_share(first->value, v->total).text);
  markup_put_markdown(stdout, waiter);
  fputs(", while the lock was held by ", stdout);
  markup_put_markdown(stdout, holder);
  fputs(".\n\n", stdout);
  struct table *t = table_of_pairs(v, &all, count);
  table_print_markdown(t, stdout);
  table_free(t);
  free(waiter);
  free(holder);
  free(all.items);
  free(all.frames);
}

// --- JSON ---

static void print_stack(const struct view *v, const struct pairs *all,
                        const struct pair *pair, enum part part,
                        const char *name) {
  const struct part_frames *f = &pair->parts[part];
  printf(",\n   \"%s\": [", name);
  for (uint32_t i = 0; i < f->count; i++) {
    fputs(i ? ", " : "", stdout);
    json_string(stdout, frame_text(v, &all->frames[f->first + i]).text);
  }
  fputs("]", stdout);
}

static void print_text(const char *name, const char *text) {
  printf("\"%s\": ", name);
  json_string(stdout, text);
  fputs(", ", stdout);
}

static void print_json(const struct options *options, const struct view *v,
                       const struct pairs *all, size_t count) {
  json_begin(stdout, options, v, all->count);
  fputs("\"pairs\": [", stdout);
  for (size_t i = 0; i < count; i++) {
    const struct pair *pair = &all->items[i];
    fputs(i ? ",\n  {" : "\n  {", stdout);
    char *lock = lock_of(v, all, pair);
    print_text("lock", lock);
    free(lock);
    print_text("kind", v->profile->strings[pair->kind]);
    print_text("waiter_access", v->profile->strings[pair->waiter]);
    print_text("holder_access", v->profile->strings[pair->holder]);
    for (int k = 0; k < VALUES; k++)
      printf("\"%s\": %" PRId64 ", ", value_names[k], pair->values[k]);
    printf("\"worst\": %" PRId64 ", \"queue\": %" PRId64, pair->worst,
           pair->queue);
    print_stack(v, all, pair, WAITER, "waiter");
    print_stack(v, all, pair, RELEASE, "released");
    print_stack(v, all, pair, TAKEN, "taken");
    print_stack(v, all, pair, MADE, "made");
    fputs("}", stdout);
  }
  fputs("]", stdout);
  json_end(stdout, v);
}

// --- the command ---

// The values held and held_waiting lack the holds whose begin is not known,
// which may be the longest. Says how long threads waited for their ends.
static void print_unknown_holds(const struct view *v) {
  const struct profile *p = v->profile;
  const int delay = profile_find_type(p, "delay");
  int64_t lost = 0, all = 0;
  if (strncmp(v->type_name, "held", 4) != 0 || v->total != v->profile_total)
    return;
  for (size_t k = 0; k < p->sample_count; k++) {
    const int64_t *values = &p->values[k * p->type_count];
    add_to(&all, size_of(values[delay]));
    if (values[v->type] == 0)
      add_to(&lost, size_of(values[delay]));
  }
  if (lost == 0)
    return;
  char *text = text_of("%s", quantity_of(lost, "nanoseconds").text);
  printf("note: %s of %s of waiting is for holders that are not shown, because "
         "it is not known when they took the lock; --sample=delay shows them\n",
         text, quantity_of(all, "nanoseconds").text);
  free(text);
}

int command_locks(const struct options *options) {
  size_t limit;
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct options by_lines = *options;
  by_lines.lines = true;
  struct view *v = input_view(&by_lines);
  if (!v)
    return STATUS_ERROR;
  if (profile_find_type(v->profile, "held_waiting") < 0 ||
      profile_find_type(v->profile, "delay") < 0)
    return complain(options,
                    "%s is no profile of lock pairs; mprof run --mutex writes "
                    "PROGRAM.PID.locks.pb.gz at exit, and mprof locks PID "
                    "reads a running program",
                    options->paths[0]);
  struct pairs all = pairs_of(v, options->std);
  const size_t count = limit && limit < all.count ? limit : all.count;
  if (option_is(options->format, "json")) {
    print_json(options, v, &all, count);
    return STATUS_OK;
  }
  const struct style style = input_begin_output(options);
  struct table *t = table_of_pairs(v, &all, count);
  if (option_is(options->format, "md")) {
    table_print_markdown(t, stdout);
  } else {
    input_print_title(v, stdout, &style);
    table_print(t, stdout, &style);
    input_print_end(v, stdout, &style, count, all.count, "pairs", "-n 0");
    print_unknown_holds(v);
  }
  table_free(t);
  return STATUS_OK;
}
