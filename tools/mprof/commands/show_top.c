// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_top.h"

#include "commands/explain_unnamed.h"
#include "commands/input.h"
#include "terminal/quantity.h"
#include "view/shown_frames.h"

static const struct {
  const char *one, *many;
} names[] = {[GRAIN_FUNCTIONS] = {"function", "functions"},
             [GRAIN_LINES] = {"line", "lines"},
             [GRAIN_FILES] = {"file", "files"}};

struct table *top_table(const struct view *v, const struct function_table *rows,
                        size_t count, const char *title, bool has_utf8) {
  struct table *t = table_new();
  table_column(t, v->type_name, ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, "with callees", ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, title, ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    const struct function_row *r = &rows->rows[i];
    table_cell(
        t,
        quantity_with_error(r->flat, r->flat_variance, v->unit, has_utf8).text);
    table_cell(t, quantity_share(r->flat, v->total).text);
    table_cell(t, quantity_of(r->cum, v->unit).text);
    table_cell(t, quantity_share(r->cum, v->total).text);
    table_cell(t, frame_parts(v, &r->shown).text);
  }
  return t;
}

void show_top(const struct view *v, const struct function_table *rows,
              size_t limit, enum view_grain grain, FILE *out,
              const struct style *style, const char *how) {
  const size_t count = limit && limit < rows->count ? limit : rows->count;
  struct table *t =
      top_table(v, rows, count, names[grain].one, style->has_utf8);
  input_print_title(v, out, style);
  table_print(t, out, style);
  input_print_end(v, out, style, count, rows->count, names[grain].many, how);
  explain_unnamed(v, rows, count, out);
  table_free(t);
}
