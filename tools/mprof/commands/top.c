// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof top: the functions, lines or files with the largest values.

#include "commands/input.h"
#include "commands/options.h"
#include "files/convert.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/frame_text.h"
#include "view/functions.h"

#include <inttypes.h>
#include <string.h>

static struct table *table_of(const struct view *v,
                              const struct function_table *rows, size_t count,
                              const struct options *options, bool has_utf8) {
  static const char *const titles[] = {[GRAIN_FUNCTIONS] = "function",
                                       [GRAIN_LINES] = "line",
                                       [GRAIN_FILES] = "file"};
  struct table *t = table_new();
  table_column(t, v->type_name, ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, "with callees", ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, titles[input_view_options(options).grain], ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    const struct function_row *r = &rows->rows[i];
    table_cell(
        t,
        quantity_with_error(r->flat, r->flat_variance, v->unit, has_utf8).text);
    table_cell(t, quantity_share(r->flat, v->total).text);
    table_cell(t, quantity_of(r->cum, v->unit).text);
    table_cell(t, quantity_share(r->cum, v->total).text);
    table_cell(t, frame_text_via(v, r->frame, r->via).text);
  }
  return t;
}

static void print_csv(const struct view *v, const struct function_table *rows,
                      size_t count) {
  puts("flat,cum,unit,function,file,line");
  for (size_t i = 0; i < count; i++) {
    const struct function_row *r = &rows->rows[i];
    const struct frame *f = &v->frames[r->frame];
    printf("%" PRId64 ",%" PRId64 ",%s,", r->flat, r->cum, v->unit);
    csv_string(stdout, v->profile->strings[f->name]);
    putchar(',');
    csv_string(stdout, v->profile->strings[f->example_file]);
    printf(",%" PRId64 "\n", f->example_line);
  }
}

int command_top(const struct options *options) {
  size_t limit;
  const char *format = options->format ? options->format : "text";
  const bool is_markdown = strcmp(format, "md") == 0;
  if (!is_markdown && strcmp(format, "text") != 0 && strcmp(format, "csv") != 0)
    return complain(options, "--format=%s is not text, md or csv", format);
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct view *v = input_view(options);
  if (!v)
    return STATUS_ERROR;
  struct function_table rows = functions_of(v, options->std, options->cum);
  const size_t count = limit && limit < rows.count ? limit : rows.count;
  if (strcmp(format, "csv") == 0) {
    print_csv(v, &rows, count);
    return STATUS_OK;
  }
  const struct style style = style_of_output(options->colour);
  struct table *t = table_of(v, &rows, count, options, style.has_utf8);
  if (is_markdown) {
    table_print_markdown(t, stdout);
  } else {
    input_print_title(v, stdout, &style);
    table_print(t, stdout, &style);
    input_print_end(v, stdout, &style, count, rows.count,
                    options->files   ? "files"
                    : options->lines ? "lines"
                                     : "functions");
  }
  table_free(t);
  functions_free(&rows);
  return STATUS_OK;
}
