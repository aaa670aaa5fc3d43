// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/lock_pairs.h"

#include "common/memory.h"
#include "common/saturate.h"
#include "names/lock_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The frames between the parts of a sample's stack (rt/write/kind_locks.c).
static const char released[] = "[released in]", no_release[] = "[no release]",
                  taken[] = "[taken in]", made[] = "[lock made in]",
                  no_waiter[] = "[unknown waiter]";

const char *const pair_value_names[PAIR_VALUES] = {"delay", "contentions",
                                                   "held", "held_waiting"};

// --- reading ---

static bool is_named(const struct view *v, const struct shown_frame *f,
                     const char *name) {
  return strcmp(v->profile->strings[v->frames[f->frame].name], name) == 0;
}

// Divides the shown frames of a stack into its parts.
static void divide(struct pairs *all, struct pair *pair, const struct view *v,
                   const struct shown_frame *frames, uint32_t count) {
  enum pair_part part = PAIR_WAITER;
  for (int i = 0; i < PAIR_PARTS; i++)
    pair->parts[i] = (struct part_frames){.first = all->frame_count};
  for (uint32_t i = 0; i < count; i++) {
    const struct shown_frame *f = &frames[i];
    const enum pair_part begins = is_named(v, f, released) ? PAIR_RELEASE
                                  : is_named(v, f, taken)  ? PAIR_TAKEN
                                  : is_named(v, f, made)   ? PAIR_MADE
                                                           : PAIR_WAITER;
    if (begins != PAIR_WAITER) {
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
                       : x->parts[PAIR_MADE].count && x->offset == y->offset));
}

// Returns whether two pairs are one row: the same lock and the same lines, or
// the same lines but those where the lock was taken.
static bool is_same(const struct profile *p, const struct pairs *all,
                    const struct pair *x, const struct pair *y,
                    bool skips_taken) {
  for (int i = 0; i < PAIR_PARTS; i++) {
    if (i == PAIR_TAKEN && skips_taken)
      continue;
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

static void add_values(struct pair *x, const struct pair *pair) {
  x->has_more_locks |= x->lock != pair->lock;
  add_to(&x->value, pair->value);
  for (int k = 0; k < PAIR_VALUES; k++)
    add_to(&x->values[k], pair->values[k]);
  x->worst = pair->worst > x->worst ? pair->worst : x->worst;
  x->queue = pair->queue > x->queue ? pair->queue : x->queue;
}

static void add_pair(const struct profile *p, struct pairs *all,
                     const struct pair *pair) {
  for (size_t i = 0; i < all->count; i++) {
    struct pair *x = &all->items[i];
    if (!is_same(p, all, x, pair, false))
      continue;
    add_values(x, pair);
    return;
  }
  *APPEND(all->items, all->count, all->capacity) = *pair;
}

static bool is_without_begin(const struct pair *x) {
  return x->parts[PAIR_RELEASE].count && !x->parts[PAIR_TAKEN].count;
}

// Returns the only pair with the waiter, lock and release of `pair` that says
// where the lock was taken, or NULL.
static struct pair *taken_pair_of(const struct profile *p,
                                  const struct pairs *all,
                                  const struct pair *pair) {
  struct pair *only = NULL;
  for (size_t i = 0; i < all->count; i++) {
    struct pair *x = &all->items[i];
    if (!x->parts[PAIR_TAKEN].count || !is_same(p, all, x, pair, true))
      continue;
    if (only)
      return NULL;
    only = x;
  }
  return only;
}

void pairs_join(const struct profile *p, struct pairs *all) {
  for (size_t i = 0; i < all->count;) {
    struct pair *x = is_without_begin(&all->items[i])
                         ? taken_pair_of(p, all, &all->items[i])
                         : NULL;
    if (!x) {
      i++;
      continue;
    }
    x->has_unknown_holds = true;
    add_values(x, &all->items[i]);
    all->count--;
    memmove(&all->items[i], &all->items[i + 1],
            (all->count - i) * sizeof *all->items);
  }
  if (all->count)
    qsort(all->items, all->count, sizeof *all->items, by_value);
}

bool pairs_have_unknown_holds(const struct pairs *all, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (all->items[i].has_unknown_holds || is_without_begin(&all->items[i]))
      return true;
  return false;
}

struct pairs pairs_of(const struct view *v, bool keeps_std) {
  const struct profile *p = v->profile;
  struct pairs all = {0};
  struct shown_frame *frames = zeroed(view_depth(v), sizeof *frames);
  unsigned types[PAIR_VALUES];
  for (int k = 0; k < PAIR_VALUES; k++)
    types[k] = (unsigned)profile_find_type(p, pair_value_names[k]);
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *s = &v->stacks[i];
    struct pair pair = {.value = s->value};
    divide(&all, &pair, v, frames, view_shown(v, s, keeps_std, frames));
    read_labels(&pair, p, &p->samples[s->sample]);
    for (int k = 0; k < PAIR_VALUES; k++)
      pair.values[k] = p->values[(size_t)s->sample * p->type_count + types[k]];
    add_pair(p, &all, &pair);
  }
  free(frames);
  if (all.count)
    qsort(all.items, all.count, sizeof *all.items, by_value);
  return all;
}

bool pairs_are_in(const struct profile *p) {
  for (int k = 0; k < PAIR_VALUES; k++)
    if (profile_find_type(p, pair_value_names[k]) < 0)
      return false;
  return true;
}

void pairs_free(struct pairs *all) {
  free(all->items);
  free(all->frames);
}

// --- text ---

static const struct shown_frame *
leaf_of(const struct pairs *all, const struct pair *pair, enum pair_part part) {
  const struct part_frames *f = &pair->parts[part];
  return f->count ? &all->frames[f->first] : NULL;
}

// Returns "NAME  FILE:LINE" of the innermost frame that is the user's. The
// caller frees it.
static char *place_of(const struct view *v, const struct pairs *all,
                      const struct pair *pair, enum pair_part part) {
  const struct shown_frame *f = leaf_of(all, pair, part);
  if (f == NULL)
    return text_of("?");
  struct shown_frame plain = *f;
  plain.via = NO_FRAME;
  return text_of("%s", frame_text(v, &plain).text);
}

char *pair_holder(const struct view *v, const struct pairs *all,
                  const struct pair *pair) {
  if (!pair->parts[PAIR_RELEASE].count)
    return text_of("not seen");
  const struct shown_frame *a = leaf_of(all, pair, PAIR_TAKEN),
                           *b = leaf_of(all, pair, PAIR_RELEASE);
  char *from = place_of(v, all, pair, PAIR_TAKEN);
  const struct frame *x = a ? &v->frames[a->frame] : NULL,
                     *y = &v->frames[b->frame];
  if (x && x->name == y->name && x->file == y->file && x->line && y->line) {
    char *text = x->line == y->line ? text_of("%s", from)
                                    : text_of("%s -> %" PRId64, from, y->line);
    free(from);
    return text;
  }
  char *to = place_of(v, all, pair, PAIR_RELEASE);
  char *text = text_of("%s -> %s", from, to);
  free(from);
  free(to);
  return text;
}

char *pair_lock(const struct view *v, const struct pairs *all,
                const struct pair *pair) {
  const char *text = v->profile->strings[pair->lock];
  if (pair->parts[PAIR_MADE].count && !lock_name_length(text)) {
    char *place = place_of(v, all, pair, PAIR_MADE);
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

char *pair_lock_name(const struct view *v, const struct pairs *all,
                     const struct pair *pair) {
  const char **strings = v->profile->strings;
  char *lock = pair_lock(v, all, pair);
  char *text = text_of("%s %s%s%s%s%s", strings[pair->kind], *lock ? lock : "?",
                       pair->waiter ? ", " : "", strings[pair->waiter],
                       pair->holder ? " behind " : "", strings[pair->holder]);
  free(lock);
  return text;
}

char *pair_waiter(const struct view *v, const struct pairs *all,
                  const struct pair *pair) {
  return place_of(v, all, pair, PAIR_WAITER);
}
