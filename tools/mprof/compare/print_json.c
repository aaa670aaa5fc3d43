// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON of mprof diff. docs/ci.md describes its members.

#include "compare/comparison.h"
#include "files/json.h"
#include "view/shown_frames.h"

#include <inttypes.h>
#include <math.h>

static void print_number(FILE *out, double value) {
  if (fabs(value) < 0x1p53 && value == floor(value))
    fprintf(out, "%.0f", value);
  else
    fprintf(out, "%.17g", value);
}

static void print_member(FILE *out, const char *name, double value) {
  fprintf(out, "\"%s\": ", name);
  print_number(out, value);
}

static void print_string(FILE *out, const char *name, const char *text) {
  fprintf(out, "\"%s\": ", name);
  if (text)
    json_string(out, text);
  else
    fputs("null", out);
}

// Prints the members that tell the values of both sides.
static void print_sides(FILE *out, const struct estimate side[SIDES]) {
  print_member(out, "old", side[OLD].value);
  fputs(", ", out);
  print_member(out, "new", side[NEW].value);
  fputs(", ", out);
  print_member(out, "difference", side[NEW].value - side[OLD].value);
  fputs(", ", out);
  print_member(out, "standard_error",
               sqrt(side[NEW].variance + side[OLD].variance));
}

static void print_function(FILE *out, const struct changes *c,
                           const struct change *row) {
  const struct view *v = c->view;
  const struct shown_frame *shown = row->count ? &c->frames[row->first] : NULL;
  const struct frame *f = shown ? &v->frames[shown->frame] : NULL;
  fputs("{", out);
  print_string(out, "function", f ? v->profile->strings[f->name] : NULL);
  fputs(", ", out);
  print_string(out, "file",
               f && shown->place.file ? v->profile->strings[shown->place.file]
                                      : NULL);
  fprintf(out, ", \"line\": %" PRId64 ", ", f ? shown->place.line : 0);
  print_string(out, "via",
               f && shown->via != NO_FRAME
                   ? v->profile->strings[v->frames[shown->via].name]
                   : NULL);
  fputs(", ", out);
  print_sides(out, row->side);
  fprintf(out, ", \"is_noise\": %s}", row->is_noise ? "true" : "false");
}

static void print_stack(FILE *out, const struct changes *c,
                        const struct change *row) {
  fputs("{", out);
  print_sides(out, row->side);
  fputs(", \"frames\": [", out);
  for (uint32_t i = 0; i < row->count; i++) {
    const struct shown_frame *f = &c->frames[row->first + i];
    fputs(i ? ", " : "", out);
    json_string(out, frame_text(c->view, f).text);
  }
  fputs("]}", out);
}

static void print_budget(FILE *out, const struct judged_budget *b) {
  fputs("{", out);
  print_string(out, "budget", b->budget.text);
  fputs(", ", out);
  print_string(out, "type", b->view->type_name);
  fputs(", ", out);
  print_string(out, "unit", b->view->unit);
  fputs(", ", out);
  print_string(out, "verdict", comparison_verdict_name(b));
  fputs(", ", out);
  print_string(out, "text", comparison_verdict(b, true).text);
  fputs(", ", out);
  print_sides(out, b->total);
  fputs(", ", out);
  print_member(out, "limit", b->verdict.limit);
  fputs(", ", out);
  print_member(out, "margin", b->verdict.margin);
  fputs(", \"stacks\": [", out);
  for (size_t i = 0; i < comparison_stack_count(b); i++) {
    fputs(i ? ",\n    " : "\n    ", out);
    print_stack(out, &b->stacks, &b->stacks.rows[i]);
  }
  fputs("]}", out);
}

void comparison_print_json(const struct comparison *d, FILE *out) {
  fputs("{\"mprof_diff\": 1,\n ", out);
  const struct compared_values *c = d->values;
  print_string(out, "command", d->command[OLD]);
  fputs(", ", out);
  print_string(out, "new_command",
               d->command[NEW] ? d->command[NEW] : d->command[OLD]);
  fputs(", ", out);
  print_string(out, "type", c->view->type_name);
  fputs(", ", out);
  print_string(out, "unit", c->view->unit);
  fprintf(out, ", \"old_files\": %zu, \"new_files\": %zu,\n ",
          d->sides->side[OLD].count, d->sides->side[NEW].count);
  print_sides(out, c->total);
  const size_t count = comparison_row_count(d, &c->functions, d->row_limit);
  fprintf(out, ", \"noise_functions\": %zu,\n \"functions\": [",
          c->functions.noise_count);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    print_function(out, &c->functions, &c->functions.rows[i]);
  }
  fputs("],\n \"budgets\": [", out);
  for (size_t i = 0; i < d->budget_count; i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    print_budget(out, &d->budgets[i]);
  }
  fprintf(out, "],\n \"is_broken\": %s}\n", d->broken_count ? "true" : "false");
}
