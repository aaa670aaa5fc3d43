// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A page with the tables of mprof diff. It has no script and loads nothing.

#include "compare/comparison.h"
#include "terminal/markup.h"
#include "view/shown_frames.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" "
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>mprof diff</title>\n<style>\n"
    ":root { color-scheme: light dark }\n"
    "body { font: 14px/1.4 system-ui, sans-serif; margin: 2em }\n"
    "table { border-collapse: collapse }\n"
    "th, td { padding: 2px 1em 2px 0; text-align: right; "
    "font-variant-numeric: tabular-nums; white-space: nowrap }\n"
    "th:last-child, td:last-child { text-align: left; white-space: normal; "
    "overflow-wrap: anywhere }\n"
    "h1 { overflow-wrap: anywhere }\n"
    "pre { white-space: pre-wrap }\n"
    "tr + tr { border-top: 1px solid #8884 }\n"
    ".broken { color: #d33; font-weight: bold }\n"
    // In a narrow window, the name is below the values.
    "@media (max-width: 700px) {\n"
    "body { margin: 1em; font-size: 13px } h1 { font-size: 1.3em }\n"
    "table, tbody { display: block }\n"
    "tr { display: grid; grid-template-columns: 3fr 3fr 3fr 2fr }\n"
    "th, td { white-space: normal; padding-right: 4px }\n"
    "th:last-child, td:last-child { grid-column: 1 / -1 }\n"
    "}\n</style></head><body>\n";

static void put_cell(FILE *out, const char *text) {
  fputs("<td>", out);
  markup_put_html(out, text);
  fputs("</td>", out);
}

static void put_values(FILE *out, const struct change *row, const char *unit) {
  put_cell(out, comparison_value(&row->side[OLD], unit, true).text);
  put_cell(out, comparison_value(&row->side[NEW], unit, true).text);
  put_cell(out, comparison_difference(row->side, unit, true).text);
  put_cell(out, comparison_percent(row->side).text);
}

static void put_frame(FILE *out, const struct changes *c, size_t index) {
  const struct shown_frame *f = &c->frames[index];
  markup_put_html(out, frame_text(c->view, f).text);
}

static void put_table(FILE *out, const struct changes *c, size_t count,
                      const char *title) {
  fprintf(out,
          "<table><tr><th>old</th><th>new</th><th>difference</th><th></th>"
          "<th>%s</th></tr>\n",
          title);
  for (size_t i = 0; i < count; i++) {
    const struct change *row = &c->rows[i];
    fputs("<tr>", out);
    put_values(out, row, c->view->unit);
    fputs("<td>", out);
    for (uint32_t k = 0; k < row->count; k++) {
      fputs(k == 1 ? "<details><summary>callers</summary>"
            : k    ? "<br>"
                   : "",
            out);
      put_frame(out, c, row->first + k);
    }
    fputs(row->count > 1 ? "</details></td></tr>\n" : "</td></tr>\n", out);
  }
  fputs("</table>\n", out);
}

static void put_title(FILE *out, const struct comparison *d,
                      const struct compared_values *c) {
  const char *unit = c->view->unit;
  fputs("<h1>", out);
  markup_put_html(out, c->view->type_name);
  for (unsigned n = 0; n < SIDES; n++)
    if (d->command[n]) {
      fputs(n == OLD ? " of " : " &rarr; ", out);
      markup_put_html(out, d->command[n]);
    }
  fprintf(out, "</h1>\n<p>%s &rarr; %s, difference %s</p>\n",
          comparison_value(&c->total[OLD], unit, true).text,
          comparison_value(&c->total[NEW], unit, true).text,
          comparison_difference(c->total, unit, true).text);
}

static void put_functions(FILE *out, const struct comparison *d,
                          const struct compared_values *c) {
  put_table(out, &c->functions,
            comparison_row_count(d, &c->functions, d->row_limit), "function");
  if (!d->shows_noise)
    fprintf(out,
            "<p>Differences of less than two standard errors are not shown: "
            "%zu.</p>\n",
            c->functions.noise_count);
}

void comparison_print_html(const struct comparison *d, FILE *out) {
  fputs(head, out);
  put_title(out, d, d->values);
  for (size_t i = 0; i < d->budget_count; i++) {
    const struct judged_budget *b = &d->budgets[i];
    fprintf(out, "<p class=\"%s\">budget ", comparison_verdict_name(b));
    markup_put_html(out, b->budget.text);
    fputs(" is ", out);
    markup_put_html(out, comparison_verdict(b, true).text);
    fputs("</p>\n", out);
    if (comparison_stack_count(b))
      put_table(out, &b->stacks, comparison_stack_count(b), "stack");
  }
  put_functions(out, d, d->values);
  for (size_t i = 1; i < d->value_count; i++) {
    put_title(out, d, &d->values[i]);
    put_functions(out, d, &d->values[i]);
  }
  if (*d->lost) {
    fputs("<pre>", out);
    markup_put_html_lines(out, d->lost);
    fputs("</pre>\n", out);
  }
  fputs("</body></html>\n", out);
}
