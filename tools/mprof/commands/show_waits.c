// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_waits.h"
#include "common/idmap.h"
#include "common/memory.h"
#include "common/plural.h"
#include "common/saturate.h"
#include "names/lock_names.h"
#include "terminal/style.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WAITS = 4, MAX_CYCLES = 4, MAX_IN_CYCLE = 8 };

struct wait {
  uint64_t waiter, holder; // thread ids; 0: not known
  string_id lock;          // 0: not known
  uint64_t count;          // threads
};

struct waits {
  struct wait *items;
  size_t count, capacity;
};

// The labels are "21 NAME" and "thread 22".
static uint64_t thread_id(const char *text) {
  static const char word[] = "thread ";
  if (strncmp(text, word, strlen(word)) == 0)
    text += strlen(word);
  return *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

static string_id text_label(const struct profile *p, const struct sample *s,
                            const char *key) {
  const struct label *l = profile_label(p, s, key);
  return l ? l->str : 0;
}

static void add_wait(struct waits *all, const struct view *v, uint32_t stack) {
  const struct profile *p = v->profile;
  const struct sample *s = &p->samples[v->stacks[stack].sample];
  *APPEND(all->items, all->count, all->capacity) =
      (struct wait){.waiter = thread_id(p->strings[text_label(p, s, "thread")]),
                    .holder = thread_id(p->strings[text_label(p, s, "holder")]),
                    .lock = text_label(p, s, "lock"),
                    .count = (uint64_t)size_of(v->stacks[stack].value)};
}

// --- the waits of a row ---

bool is_label_of_wait(const char *key) {
  return strcmp(key, "thread") == 0 || strcmp(key, "lock") == 0 ||
         strcmp(key, "holder") == 0;
}

static int by_waiter(const void *x, const void *y) {
  const struct wait *a = x, *b = y;
  if (a->waiter != b->waiter)
    return a->waiter < b->waiter ? -1 : 1;
  if (a->holder != b->holder)
    return a->holder < b->holder ? -1 : 1;
  return (a->lock > b->lock) - (a->lock < b->lock);
}

static bool are_alike(const struct waits *all) {
  for (size_t i = 1; i < all->count; i++)
    if (all->items[i].holder != all->items[0].holder ||
        all->items[i].lock != all->items[0].lock)
      return false;
  return true;
}

static void put_wait(const struct view *v, const struct wait *w, FILE *out) {
  const char *lock = v->profile->strings[w->lock];
  const size_t name = lock_name_length(lock);
  if (w->waiter)
    fprintf(out, "%" PRIu64, w->waiter);
  else
    fprintf(out, "%" PRIu64 " thread%s", w->count, plural(w->count));
  if (w->holder)
    fprintf(out, " -> %" PRIu64, w->holder);
  else
    fputs(" -> ?", out);
  if (w->lock) {
    char *text = text_of(" (%.*s)", (int)(name ? name : strlen(lock)), lock);
    style_put(out, text);
    free(text);
  }
}

bool show_waits(const struct view *v, const struct stack_table *t,
                const struct stack_row *row, FILE *out) {
  struct waits all = {0};
  bool has_holder = false;
  if (strcmp(v->type_name, "threadleak") != 0)
    return false;
  for (uint32_t i = row->first_stack; i != NO_STACK; i = t->next_stack[i]) {
    add_wait(&all, v, i);
    has_holder |= all.items[all.count - 1].holder != 0;
  }
  const bool is_shown = has_holder && !are_alike(&all);
  if (is_shown) {
    qsort(all.items, all.count, sizeof *all.items, by_waiter);
    for (size_t i = 0; i < all.count && i < MAX_WAITS; i++) {
      fputs(i ? "           " : "    waits: ", out);
      put_wait(v, &all.items[i], out);
      fputc('\n', out);
    }
    if (all.count > MAX_WAITS)
      fprintf(out, "           and %zu other%s\n", all.count - MAX_WAITS,
              plural(all.count - MAX_WAITS));
  }
  free(all.items);
  return is_shown;
}

// --- cycles ---

// A thread waits for one holder, so following the holders from each thread
// finds each cycle once: it begins where a walk meets itself.
struct walks {
  struct waits all;
  struct idmap of_thread; // from a waiter to its wait
  size_t *walk; // for each wait: the walk that has reached it first; 0: none
};

static bool next_wait(const struct walks *w, size_t *at) {
  return idmap_find(&w->of_thread, w->all.items[*at].holder, at);
}

static void put_cycle(const struct walks *w, size_t first, size_t number,
                      size_t cycles, FILE *out) {
  size_t length = 1, at = first;
  while (next_wait(w, &at) && at != first)
    length++;
  fprintf(out, "\nCycle %zu of %zu: ", number, cycles);
  if (length == 1)
    fputs("a thread waits for itself: ", out);
  else
    fprintf(out, "%zu threads wait for one another: ", length);
  at = first;
  for (size_t i = 0; i < length && i < MAX_IN_CYCLE; i++) {
    fprintf(out, "%" PRIu64 " -> ", w->all.items[at].waiter);
    next_wait(w, &at);
  }
  if (length > MAX_IN_CYCLE)
    fputs("... -> ", out);
  fprintf(out, "%" PRIu64 "\n", w->all.items[first].waiter);
}

void show_wait_cycles(const struct view *v, FILE *out) {
  struct walks w = {0};
  size_t *firsts = NULL, cycles = 0, capacity = 0;
  if (strcmp(v->type_name, "threadleak") != 0)
    return;
  for (uint32_t i = 0; i < v->stack_count; i++) {
    size_t known;
    add_wait(&w.all, v, i);
    const uint64_t waiter = w.all.items[w.all.count - 1].waiter;
    if (waiter && !idmap_find(&w.of_thread, waiter, &known))
      idmap_add(&w.of_thread, waiter, w.all.count - 1);
  }
  w.walk = zeroed(w.all.count + 1, sizeof *w.walk);
  for (size_t i = 0; i < w.all.count; i++) {
    size_t at = i;
    bool has_next = w.all.items[i].waiter != 0;
    while (has_next && !w.walk[at]) {
      w.walk[at] = i + 1;
      has_next = next_wait(&w, &at);
    }
    if (has_next && w.walk[at] == i + 1)
      *APPEND(firsts, cycles, capacity) = at;
  }
  for (size_t i = 0; i < cycles && i < MAX_CYCLES; i++)
    put_cycle(&w, firsts[i], i + 1, cycles, out);
  if (cycles > MAX_CYCLES)
    fprintf(out, "\nand %zu other cycle%s\n", cycles - MAX_CYCLES,
            plural(cycles - MAX_CYCLES));
  idmap_clear(&w.of_thread);
  free(w.walk);
  free(w.all.items);
  free(firsts);
}
