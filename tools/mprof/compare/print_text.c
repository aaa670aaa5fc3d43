// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the comparison of two profiles on a terminal or as Markdown.

#include "common/plural.h"
#include "compare/comparison.h"
#include "terminal/markup.h"
#include "terminal/style.h"
#include "terminal/table.h"
#include "view/shown_frames.h"

// --- terminal ---

static struct table *table_of(const struct compared_values *c, size_t count,
                              bool has_utf8) {
  const char *unit = c->view->unit;
  struct table *t = table_new();
  table_column(t, "old", ALIGN_RIGHT);
  table_column(t, "new", ALIGN_RIGHT);
  table_column(t, "difference", ALIGN_RIGHT);
  table_column(t, "", ALIGN_RIGHT);
  table_column(t, "function", ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    const struct change *row = &c->functions.rows[i];
    const struct shown_frame *f =
        row->count ? &c->functions.frames[row->first] : NULL;
    table_cell(t, comparison_value(&row->side[OLD], unit, has_utf8).text);
    table_cell(t, comparison_value(&row->side[NEW], unit, has_utf8).text);
    table_cell(t, comparison_difference(row->side, unit, has_utf8).text);
    table_cell(t, comparison_percent(row->side).text);
    table_cell(t, f ? frame_parts(c->view, f).text : "[no stack]");
  }
  return t;
}

// Prints "1.20 GiB -> 1.32 GiB, difference +120 MiB (+10 %)".
static void print_sum(const struct compared_values *c, FILE *out,
                      bool has_utf8) {
  const char *unit = c->view->unit;
  const struct comparison_text percent = comparison_percent(c->total);
  fprintf(out, "%s -> %s, difference %s",
          comparison_value(&c->total[OLD], unit, has_utf8).text,
          comparison_value(&c->total[NEW], unit, has_utf8).text,
          comparison_difference(c->total, unit, has_utf8).text);
  if (*percent.text)
    fprintf(out, " (%s)", percent.text);
}

static void print_hidden(const struct comparison *d,
                         const struct compared_values *c, FILE *out,
                         size_t count) {
  const size_t noise = c->functions.noise_count;
  if (noise && !d->shows_noise)
    fprintf(out,
            "%zu function%s by less than two standard errors (--all shows "
            "%s)\n",
            noise, noise > 1 ? "s differ" : " differs",
            noise > 1 ? "them" : "it");
  const size_t all = comparison_row_count(d, &c->functions, 0);
  if (count < all)
    fprintf(out, "%zu of %zu functions %s shown (-n 0 shows all)\n", count, all,
            is_or_are(count));
}

static void print_stack(const struct changes *c, const struct change *row,
                        FILE *out, const struct style *style) {
  const char *unit = c->view->unit;
  fprintf(out, "\n  %s: %s -> %s\n",
          comparison_difference(row->side, unit, style->has_utf8).text,
          comparison_value(&row->side[OLD], unit, style->has_utf8).text,
          comparison_value(&row->side[NEW], unit, style->has_utf8).text);
  changes_print_frames(c, row, out, style);
}

static void print_budget(const struct judged_budget *b, FILE *out,
                         const struct style *style) {
  const bool is_red = style->has_colour && b->verdict.is_broken;
  fputs(is_red ? "\n\033[1;31mbudget " : "\nbudget ", out);
  style_put(out, b->budget.text);
  fputs(is_red ? "\033[0m " : " ", out);
  fprintf(out, "is %s\n", comparison_verdict(b, style->has_utf8).text);
  for (size_t i = 0; i < comparison_stack_count(b); i++)
    print_stack(&b->stacks, &b->stacks.rows[i], out, style);
}

static void print_values(const struct comparison *d,
                         const struct compared_values *c, FILE *out,
                         const struct style *style) {
  const size_t count = comparison_row_count(d, &c->functions, d->row_limit);
  style_put(out, c->view->type_name);
  for (unsigned n = 0; n < SIDES; n++)
    if (d->command[n]) {
      fputs(n == OLD ? " of " : " -> ", out);
      style_put_cut(out, d->command[n], 60);
    }
  for (unsigned n = 0; n < SIDES; n++)
    if (d->sides->side[n].count > 1)
      fprintf(out, ", %s is the mean of %zu files", n == OLD ? "old" : "new",
              d->sides->side[n].count);
  fputc('\n', out);
  if (count) {
    struct table *t = table_of(c, count, style->has_utf8);
    table_print(t, out, style);
    table_free(t);
    fputc('\n', out);
  }
  print_sum(c, out, style->has_utf8);
  fputc('\n', out);
  print_hidden(d, c, out, count);
}

void comparison_print_text(const struct comparison *d, FILE *out,
                           const struct style *style) {
  for (size_t i = 0; i < d->value_count; i++) {
    if (i > 0)
      fputc('\n', out);
    print_values(d, &d->values[i], out, style);
  }
  for (size_t i = 0; i < d->budget_count; i++)
    print_budget(&d->budgets[i], out, style);
  fputs(d->lost, out);
}

// --- Markdown ---

// The stacks stand in an HTML element, because Markdown has none that can be
// collapsed. The element has no empty lines, which would end it.
static void print_details(const struct judged_budget *b, FILE *out) {
  const char *unit = b->view->unit;
  const size_t count = comparison_stack_count(b);
  if (count == 0)
    return;
  fprintf(out, "\n<details><summary>%zu stack%s</summary><pre>\n", count,
          count > 1 ? "s" : "");
  for (size_t i = 0; i < count; i++) {
    const struct change *row = &b->stacks.rows[i];
    fprintf(out, "%s: %s -&gt; %s\n",
            comparison_difference(row->side, unit, true).text,
            comparison_value(&row->side[OLD], unit, true).text,
            comparison_value(&row->side[NEW], unit, true).text);
    for (uint32_t k = 0; k < row->count; k++) {
      const struct shown_frame *f = &b->stacks.frames[row->first + k];
      fputs("    ", out);
      markup_put_html(out, frame_text(b->stacks.view, f).text);
      fputc('\n', out);
    }
  }
  fputs("</pre></details>\n", out);
}

static void print_markdown_sum(const struct comparison *d,
                               const struct compared_values *c, FILE *out) {
  fputs("**", out);
  markup_put_markdown(out, c->view->type_name);
  fputs("**", out);
  for (unsigned n = 0; n < SIDES; n++)
    if (d->command[n]) {
      fputs(n == OLD ? " of <code>" : " -> <code>", out);
      markup_put_markdown(out, d->command[n]);
      fputs("</code>", out);
    }
  fputs(": ", out);
  print_sum(c, out, true);
  fputs("\n\n", out);
}

static void print_markdown_table(const struct comparison *d,
                                 const struct compared_values *c, FILE *out) {
  const size_t count = comparison_row_count(d, &c->functions, d->row_limit);
  if (count) {
    struct table *t = table_of(c, count, true);
    fputc('\n', out);
    table_print_markdown(t, out);
    table_free(t);
  }
  fputc('\n', out);
  print_hidden(d, c, out, count);
}

void comparison_print_markdown(const struct comparison *d, FILE *out) {
  print_markdown_sum(d, d->values, out);
  for (size_t i = 0; i < d->budget_count; i++) {
    const struct judged_budget *b = &d->budgets[i];
    fprintf(out, "* %s <code>",
            b->verdict.is_broken  ? "\u274c"
            : b->verdict.is_noisy ? "\u26a0\ufe0f"
                                  : "\u2705");
    markup_put_markdown(out, b->budget.text);
    fprintf(out, "</code> is %s\n", comparison_verdict(b, true).text);
  }
  for (size_t i = 0; i < d->budget_count; i++)
    print_details(&d->budgets[i], out);
  print_markdown_table(d, d->values, out);
  for (size_t i = 1; i < d->value_count; i++) {
    fputc('\n', out);
    print_markdown_sum(d, &d->values[i], out);
    print_markdown_table(d, &d->values[i], out);
  }
  markup_put_paragraphs(out, d->lost);
}
