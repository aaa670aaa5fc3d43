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
#include "terminal/markup.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/lock_pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- text ---

static void add_text(struct table *t, char *text) {
  table_cell(t, text);
  free(text);
}

// Returns how long the holders held the lock, as far as this is known.
static char *held_of(const struct pair *pair) {
  if (!pair->parts[PAIR_TAKEN].count)
    return text_of("?");
  return text_of("%s%s",
                 quantity_of(pair->values[PAIR_HELD], "nanoseconds").text,
                 pair->has_unknown_holds ? " + ?" : "");
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
    table_cell(t, quantity_of(pair->values[PAIR_CONTENTIONS], "count").text);
    table_cell(t, quantity_of(pair->worst, "nanoseconds").text);
    add_text(t, held_of(pair));
    table_cell(t, quantity_of(pair->queue, "count").text);
    add_text(t, pair_waiter(v, all, pair));
    add_text(t, pair_holder(v, all, pair));
    add_text(t, pair_lock_name(v, all, pair));
  }
  return t;
}

// Explains the "?" of the first pairs, if they have one. before: the text in
// front of the sentence.
static void explain_unknown(const struct pairs *all, size_t count,
                            const char *before) {
  if (pairs_have_unknown_holds(all, count))
    printf("%s? is a hold whose begin is not known, because no thread had "
           "waited for the lock shortly before\n",
           before);
}

void locks_section(const struct view *v, size_t limit) {
  struct pairs all = pairs_of(v, false);
  pairs_join(v->profile, &all);
  const size_t count = limit && limit < all.count ? limit : all.count;
  if (!count)
    return;
  const struct pair *first = &all.items[0];
  char *waiter = pair_waiter(v, &all, first),
       *holder = pair_holder(v, &all, first);
  printf("\n## Who waited for whom\n\nThreads waited %s for locks; ",
         quantity_of(v->total, v->unit).text);
  printf("%s of it in ", quantity_share(first->value, v->total).text);
  markup_put_markdown(stdout, waiter);
  fputs(", while the lock was held by ", stdout);
  markup_put_markdown(stdout, holder);
  fputs(".\n\n", stdout);
  struct table *t = table_of_pairs(v, &all, count);
  table_print_markdown(t, stdout);
  explain_unknown(&all, count, "\n");
  table_free(t);
  free(waiter);
  free(holder);
  pairs_free(&all);
}

// --- JSON ---

static void print_stack(const struct view *v, const struct pairs *all,
                        const struct pair *pair, enum pair_part part,
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
    char *lock = pair_lock(v, all, pair);
    print_text("lock", lock);
    free(lock);
    print_text("kind", v->profile->strings[pair->kind]);
    print_text("waiter_access", v->profile->strings[pair->waiter]);
    print_text("holder_access", v->profile->strings[pair->holder]);
    for (int k = 0; k < PAIR_VALUES; k++)
      printf("\"%s\": %" PRId64 ", ", pair_value_names[k], pair->values[k]);
    printf("\"worst\": %" PRId64 ", \"queue\": %" PRId64, pair->worst,
           pair->queue);
    print_stack(v, all, pair, PAIR_WAITER, "waiter");
    print_stack(v, all, pair, PAIR_RELEASE, "released");
    print_stack(v, all, pair, PAIR_TAKEN, "taken");
    print_stack(v, all, pair, PAIR_MADE, "made");
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
  if (!pairs_are_in(v->profile))
    return complain(options,
                    "%s is no profile of lock pairs; mprof run --mutex writes "
                    "PROGRAM.PID.locks.pb.gz at exit, and mprof locks PID "
                    "reads a running program",
                    options->paths[0]);
  struct pairs all = pairs_of(v, options->std);
  const bool is_json = option_is(options->format, "json");
  if (!is_json)
    pairs_join(v->profile, &all);
  const size_t count = limit && limit < all.count ? limit : all.count;
  if (is_json) {
    print_json(options, v, &all, count);
    return STATUS_OK;
  }
  const struct style style = input_begin_output(options);
  struct table *t = table_of_pairs(v, &all, count);
  if (option_is(options->format, "md")) {
    table_print_markdown(t, stdout);
    explain_unknown(&all, count, "\n");
  } else {
    input_print_title(v, stdout, &style);
    table_print(t, stdout, &style);
    input_print_end(v, stdout, &style, count, all.count, "pairs", "-n 0");
    explain_unknown(&all, count, "note: ");
    print_unknown_holds(v);
  }
  table_free(t);
  return STATUS_OK;
}
