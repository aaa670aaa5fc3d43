// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compare/comparison.h"

#include "common/memory.h"
#include "files/shown_path.h"
#include "terminal/quantity.h"

#include <math.h>
#include <string.h>

// --- comparing ---

static bool read_sides(struct sides *s, const struct comparison_options *o,
                       char *error, size_t size) {
  for (int i = 0; i < o->path_count; i++) {
    const char *reason =
        sides_read(s, i < o->old_count ? OLD : NEW, o->paths[i], o->reader);
    if (reason) {
      snprintf(error, size, "%s: %s", shown_path(o->paths[i]), reason);
      return false;
    }
  }
  sides_finish(s);
  return true;
}

static void find_totals(const struct sides *s, const struct view *v,
                        bool is_exact, struct estimate *total) {
  for (unsigned n = 0; n < SIDES; n++) {
    total[n] = sides_total(s, n, v);
    if (is_exact)
      total[n].variance = total[n].spread = 0;
  }
}

// --- values ---

static struct compared_values
compare_values(const struct sides *s, struct view *v,
               const struct comparison_options *o) {
  struct compared_values c = {.view = v};
  find_totals(s, v, o->is_exact, c.total);
  c.functions = changes_of(s, v,
                           &(struct change_options){.key = BY_FUNCTION,
                                                    .keeps_std = o->keeps_std,
                                                    .is_exact = o->is_exact,
                                                    .count_type = -1});
  return c;
}

static void free_values(struct compared_values *c) {
  changes_free(&c->functions);
  view_free(c->view);
}

static bool has_values(const struct compared_values *c) {
  return c->total[OLD].value != 0 || c->total[NEW].value != 0;
}

// Returns whether chance does not explain the difference of one of `count`
// values. Of many, some differ by two standard errors by chance, so the limit
// grows with their number: about one set of values in 20 reaches it by chance.
// (log would need glibc 2.29.)
static bool is_beyond_chance(const struct estimate side[SIDES], size_t count) {
  const double difference = side[NEW].value - side[OLD].value;
  const double variance = side[NEW].variance + side[OLD].variance;
  return difference != 0 && difference * difference >=
                                (4 + 2 * log1p((double)count - 1)) * variance;
}

static bool is_changed(const struct compared_values *c) {
  if (is_beyond_chance(c->total, 1))
    return true;
  for (size_t i = 0; i < c->functions.count; i++)
    if (is_beyond_chance(c->functions.rows[i].side, c->functions.count))
      return true;
  return false;
}

// Returns whether a file is that of a peak. What was allocated until then
// depends on when the peak was.
static bool has_peak(const struct profile *p) {
  static const char peak[] = "moment: the peak";
  for (size_t i = 0; i < p->comment_count; i++)
    if (strncmp(p->strings[p->comments[i]], peak, strlen(peak)) == 0)
      return true;
  return false;
}

// Adds the other values of the same unit: those that differ, or if the first
// values are 0, one that can replace them. Returns false after a message.
static bool add_other_values(struct comparison *d,
                             const struct comparison_options *o, char *error,
                             size_t size) {
  const struct view *first = d->values->view;
  const struct profile *p = first->profile;
  struct view_options wanted = sides_view_options(*o->view);
  bool is_empty = !has_values(d->values);
  const bool compares_all = o->compares_all && !has_peak(p);
  // A profile has its more important values last.
  for (unsigned i = p->type_count; i-- > 0 && (is_empty || compares_all);) {
    if (i == first->type || p->types[i].unit != p->types[first->type].unit)
      continue;
    wanted.type = p->strings[p->types[i].type];
    struct view *v = view_new(d->sides->profile, &wanted, error, size);
    if (!v)
      return false;
    struct compared_values c = compare_values(d->sides, v, o);
    if (is_empty && has_values(&c)) {
      d->empty_type = first->type_name;
      first = v;
      d->values[0] = c;
      is_empty = false;
    } else if (is_changed(&c)) {
      *APPEND(d->values, d->value_count, d->value_capacity) = c;
    } else {
      free_values(&c);
    }
  }
  return true;
}

// --- budgets ---

// Adds what the view of a budget lacks. All views compare the same names with
// drop_frames.
static void add_losses(struct view_losses *to, const struct view_losses *from) {
  to->is_cut |= from->is_cut;
  to->uncompared += from->uncompared;
}

static bool judge(struct comparison *d, struct judged_budget *b,
                  const char *text, const struct comparison_options *o,
                  char *error, size_t size) {
  struct view_options options = sides_view_options(*o->view);
  if (!budget_parse(text, &b->budget, error, size))
    return false;
  options.type = b->budget.type;
  options.within = b->budget.pattern;
  b->view = view_new(d->sides->profile, &options, error, size);
  if (!b->view || !budget_check_unit(&b->budget, b->view->unit, error, size))
    return false;
  add_losses(&d->values->view->losses, &b->view->losses);
  if (!o->is_exact && sides_lack_error(d->sides, b->view->type)) {
    snprintf(
        error, size,
        "--fail-if '%.80s': one file does not tell the noise of %.40s; give "
        "several files per side (OLD... -- NEW...), or --exact",
        text, b->view->type_name);
    return false;
  }
  find_totals(d->sides, b->view, o->is_exact, b->total);
  b->verdict = budget_judge(&b->budget, &b->total[OLD], &b->total[NEW]);
  if (b->verdict.is_broken) {
    d->broken_count++;
    b->stacks = changes_of(d->sides, b->view,
                           &(struct change_options){.key = BY_STACK,
                                                    .keeps_std = o->keeps_std,
                                                    .by_growth = true,
                                                    .is_exact = o->is_exact,
                                                    .count_type = -1});
  }
  return true;
}

struct comparison *comparison_new(const struct comparison_options *o,
                                  char *error, size_t size) {
  const struct text_list *budgets = o->budgets;
  struct comparison *d = zeroed(1, sizeof *d);
  struct view_options wanted = sides_view_options(*o->view);
  d->sides = sides_new();
  // Budgets are checked before the files are read, which may take long.
  d->budget_count = budgets->count;
  d->budgets = zeroed(budgets->count, sizeof *d->budgets);
  for (size_t i = 0; i < budgets->count; i++)
    if (!budget_parse(budgets->items[i], &d->budgets[i].budget, error, size))
      return NULL;
  if (!wanted.type && budgets->count)
    wanted.type = d->budgets[0].budget.type;
  if (!read_sides(d->sides, o, error, size))
    return NULL;
  o->prepare(o->arg, d->sides->profile);
  struct view *v = view_new(d->sides->profile, &wanted, error, size);
  if (!v)
    return NULL;
  *APPEND(d->values, d->value_count, d->value_capacity) =
      compare_values(d->sides, v, o);
  if (!o->view->type && !add_other_values(d, o, error, size))
    return NULL;
  for (size_t i = 0; i < budgets->count; i++)
    if (!judge(d, &d->budgets[i], budgets->items[i], o, error, size))
      return NULL;
  return d;
}

size_t comparison_row_count(const struct comparison *d, const struct changes *c,
                            size_t limit) {
  size_t count = 0;
  while (count < c->count && (!limit || count < limit) &&
         (!c->rows[count].is_noise ||
          (d->shows_noise && c->rows[count].difference != 0)))
    count++;
  return count;
}

size_t comparison_stack_count(const struct judged_budget *b) {
  enum { MAX_STACKS = 10 };
  const bool is_value = b->budget.kind == BUDGET_VALUE;
  size_t count = 0;
  while (count < b->stacks.count && count < MAX_STACKS &&
         !b->stacks.rows[count].is_noise &&
         (is_value ? b->stacks.rows[count].side[NEW].value > 0
                   : b->stacks.rows[count].difference > 0))
    count++;
  // Noise may hide each stack, although their sum is above the noise.
  return count == 0 && b->stacks.count ? 1 : count;
}

// --- texts ---

struct comparison_text comparison_value(const struct estimate *e,
                                        const char *unit, bool has_utf8) {
  struct comparison_text t;
  snprintf(
      t.text, sizeof t.text, "%s",
      quantity_with_error(quantity_round(e->value), e->variance, unit, has_utf8)
          .text);
  return t;
}

struct comparison_text comparison_difference(const struct estimate side[SIDES],
                                             const char *unit, bool has_utf8) {
  struct comparison_text t;
  const double difference = side[NEW].value - side[OLD].value;
  const double variance = side[NEW].variance + side[OLD].variance;
  const int64_t size = quantity_round(fabs(difference));
  snprintf(t.text, sizeof t.text, "%s%s",
           size == 0        ? ""
           : difference < 0 ? "-"
                            : "+",
           quantity_with_error(size, variance, unit, has_utf8).text);
  return t;
}

struct comparison_text comparison_percent(const struct estimate side[SIDES]) {
  struct comparison_text t;
  const double old = side[OLD].value, new = side[NEW].value;
  const double percent = old != 0 ? 100 * (new - old) / fabs(old) : 0;
  if (old == 0)
    snprintf(t.text, sizeof t.text, "%s", new != 0 ? "new" : "");
  else if (new == 0 && old > 0)
    snprintf(t.text, sizeof t.text, "gone");
  else
    snprintf(t.text, sizeof t.text, "%+.*f %%",
             fabs(percent) < 9.95 && percent != 0 ? 1 : 0, percent);
  return t;
}

const char *comparison_verdict_name(const struct judged_budget *b) {
  return b->verdict.is_broken  ? "broken"
         : b->verdict.is_noisy ? "noisy"
                               : "kept";
}

// The noise as a text: "1.3 %" of OLD, or an amount.
static struct comparison_text noise_text(const struct judged_budget *b) {
  struct comparison_text t;
  const double old = b->total[OLD].value;
  if (b->budget.kind == BUDGET_PERCENT && old > 0)
    snprintf(t.text, sizeof t.text, "%.1f %%", 100 * b->verdict.error / old);
  else
    snprintf(t.text, sizeof t.text, "%s",
             quantity_of(quantity_round(b->verdict.error), b->view->unit).text);
  return t;
}

struct comparison_text comparison_verdict(const struct judged_budget *b,
                                          bool has_utf8) {
  struct comparison_text t;
  const char *unit = b->view->unit;
  const struct comparison_text limit = comparison_value(
      &(struct estimate){.value = b->verdict.limit}, unit, has_utf8);
  const struct comparison_text old =
      comparison_value(&b->total[OLD], unit, has_utf8);
  const struct comparison_text new =
      comparison_value(&b->total[NEW], unit, has_utf8);
  const struct comparison_text percent = comparison_percent(b->total);
  int n = snprintf(t.text, sizeof t.text, "%s: %.*s -> %s%s%s%s, limit %s",
                   b->verdict.is_broken  ? "broken"
                   : b->verdict.is_noisy ? "not broken, but noisy"
                                         : "kept",
                   100, old.text, new.text, *percent.text ? " (" : "",
                   percent.text, *percent.text ? ")" : "", limit.text);
  if (!b->verdict.is_noisy || b->verdict.is_broken || n < 0)
    return t;
  const bool is_sampled = b->total[NEW].variance > 0;
  snprintf(t.text + n, sizeof t.text - (size_t)n,
           ". The noise (%s%s) is too large for this budget: twice the budget "
           "may pass. %s",
           has_utf8 ? "\u00b1 " : "+- ", noise_text(b).text,
           is_sampled ? "Run longer, lower heap_rate, or give several files "
                        "per side"
                      : "Give more files per side");
  return t;
}
