// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof leaks: the stacks whose memory was not freed, or, with two snapshots,
// the stacks whose memory grew.

#include "commands/add_names.h"
#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/options.h"
#include "commands/sarif.h"
#include "common/memory.h"
#include "common/plural.h"
#include "compare/changes.h"
#include "compare/comparison.h"
#include "files/shown_path.h"
#include "leaks/kept_by_libc.h"
#include "leaks/suppressions.h"
#include "terminal/quantity.h"
#include "view/memory_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct leaks {
  const struct options *options;
  struct sides *sides;
  struct view *view;
  struct suppressions suppressions; // of the user
  struct kept_by_libc kept_by_libc; // empty with --all
  struct kept {
    double bytes, blocks;
  } kept; // by libc
  // The stacks whose blocks libc keeps with the stacks of threads, and those of
  // them that no live thread explains.
  struct view_stack *thread_stacks;
  size_t thread_stack_count, thread_stack_capacity;
  struct changes threads;
  struct change ended; // the row of the threads; no blocks: there is none
  struct changes stacks;
  size_t leak_count; // the first rows of stacks
  double bytes;      // of the leaks
  int blocks_type;   // inuse_objects, or -1
};

static bool is_growth(const struct leaks *l) {
  return l->sides->side[OLD].count > 0;
}

static bool read_files(struct leaks *l) {
  const struct options *o = l->options;
  const bool has_old = o->first_count < o->path_count;
  l->sides = sides_new();
  l->sides->adds_up = true;
  for (int i = 0; i < o->path_count; i++) {
    const unsigned side = has_old && i < o->first_count ? OLD : NEW;
    const char *reason =
        sides_read(l->sides, side, o->paths[i], input_file_read);
    if (reason) {
      complain(o, "%s: %s", shown_path(o->paths[i]), reason);
      return false;
    }
  }
  sides_finish(l->sides);
  add_names(o, l->sides->profile, NAMES_AUTOMATIC);
  return true;
}

static bool make_view(struct leaks *l) {
  struct view_options wanted =
      sides_view_options(input_view_options(l->options));
  if (!wanted.type)
    wanted.type =
        is_growth(l) && memory_is(l->sides->profile) ? "rss" : "inuse_space";
  wanted.grain = GRAIN_LINES;
  char error[512];
  l->view = view_new(l->sides->profile, &wanted, error, sizeof error);
  if (!l->view)
    complain(l->options, "%s", error);
  l->blocks_type = profile_find_type(l->sides->profile, "inuse_objects");
  return l->view != NULL;
}

static struct estimate blocks_of(const struct leaks *l,
                                 const struct view_stack *k) {
  return l->blocks_type < 0
             ? (struct estimate){0}
             : sides_value(l->sides, NEW, (unsigned)l->blocks_type, k);
}

// Counts a stack of the view, and returns true, if a suppression or libc
// explains its blocks.
static bool is_explained(struct leaks *l, const struct view_stack *k) {
  const struct profile *p = l->view->profile;
  const struct sample *sample = &p->samples[k->sample];
  const double bytes = sides_value(l->sides, NEW, l->view->type, k).value;
  const double blocks = blocks_of(l, k).value;
  struct suppression *s = suppressions_find(&l->suppressions, p, sample);
  if (s && bytes > 0) {
    s->stacks++;
    s->bytes += bytes;
    s->blocks += blocks;
  }
  if (s)
    return true;
  const enum keeper keeper = kept_by_libc_find(&l->kept_by_libc, p, sample);
  if (keeper == KEPT_BY_NOBODY || (keeper == KEPT_WITH_THREAD && is_growth(l)))
    return false;
  if (keeper == KEPT_WITH_THREAD)
    *APPEND(l->thread_stacks, l->thread_stack_count, l->thread_stack_capacity) =
        *k;
  l->kept.bytes += fmax(0, bytes);
  l->kept.blocks += fmax(0, blocks);
  return true;
}

// Removes the explained stacks from the view.
static void suppress(struct leaks *l) {
  struct view *v = l->view;
  size_t kept = 0;
  for (size_t i = 0; i < v->stack_count; i++)
    if (!is_explained(l, &v->stacks[i]))
      v->stacks[kept++] = v->stacks[i];
  v->stack_count = kept;
}

static struct changes rows_of(struct leaks *l) {
  const struct change_options options = {.key = BY_STACK,
                                         .keeps_std = l->options->std,
                                         .by_growth = true,
                                         .is_exact = l->options->exact,
                                         .count_type = l->blocks_type};
  return changes_of(l->sides, l->view, &options);
}

// libc frees the storage of a thread that has ended and was joined or detached,
// except for few. So storage of more threads is a leak of the program, if noise
// does not explain it.
static void find_ended_threads(struct leaks *l) {
  struct view *v = l->view;
  struct estimate blocks = {0};
  double bytes = 0;
  for (size_t i = 0; i < l->thread_stack_count; i++) {
    const struct estimate e = blocks_of(l, &l->thread_stacks[i]);
    blocks.value += e.value;
    blocks.variance += e.variance;
    bytes += sides_value(l->sides, NEW, v->type, &l->thread_stacks[i]).value;
  }
  const double ended = blocks.value - kept_by_libc_threads(v->profile);
  if (ended <= noise_normal(0.01) * sqrt(blocks.variance))
    return;
  struct view_stack *others = v->stacks;
  const size_t other_count = v->stack_count;
  v->stacks = l->thread_stacks;
  v->stack_count = l->thread_stack_count;
  l->threads = rows_of(l);
  v->stacks = others;
  v->stack_count = other_count;
  if (!l->threads.count)
    return;
  l->ended = l->threads.rows[0];
  l->ended.blocks = (struct estimate){.value = round(ended)};
  l->ended.side[NEW] = (struct estimate){.value = bytes * ended / blocks.value};
  l->kept.blocks -= l->ended.blocks.value;
  l->kept.bytes -= l->ended.side[NEW].value;
}

// Finds the rows that are leaks. Of many rows without growth, some seem to grow
// by chance. So the growth must be so large that noise would let one of all
// rows grow so much in 1 % of cases.
static void find_leaks(struct leaks *l) {
  l->stacks = rows_of(l);
  const double limit =
      is_growth(l) ? noise_normal(0.01 / fmax(1, (double)l->stacks.count)) : 0;
  // Rows are sorted by their growth, so a leak may stand behind a row with more
  // growth and noise. Keep the order of the leaks, and that of the others.
  struct change *rows = zeroed(l->stacks.count, sizeof *rows);
  size_t others = 0;
  for (size_t i = 0; i < l->stacks.count; i++) {
    const struct change *row = &l->stacks.rows[i];
    if (row->difference <= 0 || row->difference <= limit * row->error) {
      rows[others++] = *row;
      continue;
    }
    l->bytes += row->difference;
    l->stacks.rows[l->leak_count++] = *row;
  }
  if (others)
    memcpy(&l->stacks.rows[l->leak_count], rows, others * sizeof *rows);
  free(rows);
}

// Prints the values of a row. row: one of the stacks, or `ended`.
static void put_values(FILE *out, const struct leaks *l,
                       const struct change *row, const char *title,
                       bool has_utf8) {
  const char *unit = l->view->unit;
  if (is_growth(l))
    fprintf(out, "%s %s: %s -> %s", title,
            comparison_difference(row->side, unit, has_utf8).text,
            comparison_value(&row->side[OLD], unit, has_utf8).text,
            comparison_value(&row->side[NEW], unit, has_utf8).text);
  else
    fprintf(out, "%s %s", title,
            comparison_value(&row->side[NEW], unit, has_utf8).text);
  if (l->blocks_type >= 0 && (unsigned)l->blocks_type != l->view->type)
    fprintf(out, " in %s block%s",
            comparison_value(&row->blocks, "count", has_utf8).text,
            row->blocks.value == 1 && row->blocks.variance == 0 ? "" : "s");
  if (row == &l->ended)
    fputs(": threads that were never joined or detached", out);
}

static const char *title_of(const struct leaks *l, const struct change *row) {
  return is_growth(l) && row != &l->ended ? "grew by" : "leak of";
}

// row: one of the stacks, or `ended`.
static void print_stack(const struct leaks *l, const struct change *row,
                        const char *title, const struct style *style) {
  const bool is_ended = row == &l->ended;
  if (style->has_colour)
    fputs("\033[1m", stdout);
  putchar('\n');
  put_values(stdout, l, row, title, style->has_utf8);
  if (style->has_colour)
    fputs("\033[0m", stdout);
  putchar('\n');
  changes_print_frames(is_ended ? &l->threads : &l->stacks, row, stdout, style);
}

static void print_suppressions(const struct leaks *l) {
  bool has_title = false;
  for (size_t i = 0; i < l->suppressions.count; i++) {
    const struct suppression *s = &l->suppressions.items[i];
    if (!s->stacks)
      continue;
    if (!has_title)
      puts("\nSuppressions used:\n   blocks       bytes template");
    has_title = true;
    printf("%9.0f %11.0f ", s->blocks, s->bytes);
    style_put(stdout, s->pattern);
    putchar('\n');
  }
}

static void print_kept(const struct leaks *l) {
  const double bytes = l->kept.bytes, blocks = l->kept.blocks;
  if (bytes <= 0)
    return;
  const struct quantity sum = quantity_of(quantity_round(bytes), l->view->unit);
  if (blocks > 0)
    printf("without %.0f block%s (%s) that libc keeps by design (--all shows "
           "%s)\n",
           blocks, blocks == 1 ? "" : "s", sum.text,
           blocks == 1 ? "it" : "them");
  else
    printf("without %s that libc keeps by design (--all shows it)\n", sum.text);
}

static void put_stack_json(const struct leaks *l, const struct change *row,
                           const char *comma) {
  const struct changes *c = row == &l->ended ? &l->threads : &l->stacks;
  printf("%s\n  {\"old\": %.0f, \"new\": %.0f, \"standard_error\": %.0f, ",
         comma, row->side[OLD].value, row->side[NEW].value, row->error);
  if (l->blocks_type >= 0)
    printf("\"blocks\": %.0f, ", row->blocks.value);
  json_put_frames(stdout, l->view, &c->frames[row->first], row->count);
  fputs("}", stdout);
}

static void print_json(const struct leaks *l, size_t limit) {
  const size_t count = limit && limit < l->leak_count ? limit : l->leak_count;
  const bool has_ended = l->ended.blocks.value > 0;
  json_begin(stdout, l->options, l->view, l->leak_count + l->threads.count);
  printf("\"is_growth\": %s, \"leaked\": %.0f, \"kept_by_libc\": %.0f,\n "
         "\"leaks\": [",
         is_growth(l) ? "true" : "false", l->bytes + l->ended.side[NEW].value,
         l->kept.bytes);
  for (size_t i = 0; i < count; i++)
    put_stack_json(l, &l->stacks.rows[i], i ? "," : "");
  if (has_ended)
    put_stack_json(l, &l->ended, count ? "," : "");
  fputs("]", stdout);
  json_end(stdout, l->view);
}

// Appends a row to the results. row: one of the stacks, or `ended`.
static void add_result(const struct leaks *l, const struct change *row,
                       struct sarif_results *results) {
  const struct changes *c = row == &l->ended ? &l->threads : &l->stacks;
  struct sarif_result r = {.rule = is_growth(l) ? SARIF_GROWTH : SARIF_LEAK,
                           .value = row->difference};
  size_t length;
  FILE *out = open_memstream(&r.message, &length);
  if (!out)
    return;
  put_values(out, l, row, title_of(l, row), true);
  fclose(out);
  sarif_add_stack(&r, (struct sarif_stack){.frames = &c->frames[row->first],
                                           .count = row->count});
  *APPEND(results->items, results->count, results->capacity) = r;
}

static void print_sarif(const struct leaks *l, size_t limit) {
  struct sarif_results results = {0};
  for (size_t i = 0; i < l->leak_count && (!limit || i < limit); i++)
    add_result(l, &l->stacks.rows[i], &results);
  if (l->ended.blocks.value > 0)
    add_result(l, &l->ended, &results);
  sarif_print(stdout, l->options, l->view, &results);
  sarif_free(&results);
}

static void print(const struct leaks *l, size_t limit) {
  const struct style style = input_begin_output(l->options);
  const struct change *rows = l->stacks.rows;
  const size_t count = limit && limit < l->leak_count ? limit : l->leak_count;
  input_print_title(l->view, stdout, &style);
  for (size_t i = 0; i < count; i++)
    print_stack(l, &rows[i], title_of(l, &rows[i]), &style);
  if (l->ended.blocks.value > 0)
    print_stack(l, &l->ended, title_of(l, &l->ended), &style);
  size_t noise = 0;
  for (size_t i = l->leak_count; i < l->stacks.count; i++) {
    const bool is_shown = rows[i].difference > 0;
    noise += is_shown;
    if (is_shown && l->options->all)
      print_stack(l, &rows[i], "may be noise:", &style);
  }
  print_suppressions(l);
  printf("\n%s: %s", is_growth(l) ? "growth" : "leaks",
         quantity_of(quantity_round(l->bytes + l->ended.side[NEW].value),
                     l->view->unit)
             .text);
  const size_t sum = l->leak_count + l->threads.count;
  printf(" at %zu stack%s", sum, sum == 1 ? "" : "s");
  if (count < l->leak_count)
    printf(", of which %zu %s shown (-n 0 shows all)", count, is_or_are(count));
  putchar('\n');
  if (l->leak_count && !is_growth(l))
    puts("blocks that the program can still reach count as leaks, too");
  if (noise && !l->options->all)
    printf("%zu stack%s grew by no more than noise may (--all shows %s)\n",
           noise, noise == 1 ? "" : "s", noise == 1 ? "it" : "them");
  print_kept(l);
  input_print_view_losses(l->view, stdout);
}

int command_leaks(const struct options *options) {
  struct leaks l = {.options = options};
  size_t limit, status = STATUS_FOUND;
  char error[512];
  const bool is_json = option_is(options->format, "json");
  if (!option_number(options, "exitcode", options->exit_code, 0, 255,
                     &status) ||
      !input_count(options, &limit) || !add_names_check(options))
    return STATUS_ERROR;
  if (options->suppressions &&
      !suppressions_read(&l.suppressions, options->suppressions, error,
                         sizeof error))
    return complain(options, "%s", error);
  if (!read_files(&l) || !make_view(&l))
    return STATUS_ERROR;
  if (!options->all)
    kept_by_libc_init(&l.kept_by_libc, l.view->profile);
  suppress(&l);
  find_ended_threads(&l);
  find_leaks(&l);
  if (option_is(options->format, "sarif"))
    print_sarif(&l, options->count ? limit : 0);
  else
    (is_json ? print_json : print)(&l, limit);
  if (l.view->profile->is_truncated)
    return complain(options,
                    "a file ends too early, so there may be more leaks");
  return l.leak_count || l.ended.blocks.value > 0 ? (int)status : STATUS_OK;
}
