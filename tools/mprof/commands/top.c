// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof top: the functions, lines, files, types or labels with the largest
// values.

#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/options.h"
#include "commands/show_labels.h"
#include "commands/show_top.h"
#include "commands/show_types.h"
#include "files/convert.h"
#include "terminal/markup.h"
#include "view/functions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_csv(const struct view *v, const struct function_table *rows,
                      size_t count) {
  puts("flat,cum,unit,function,file,line");
  for (size_t i = 0; i < count; i++) {
    const struct function_row *r = &rows->rows[i];
    const struct frame_place *place = &r->shown.place;
    printf("%" PRId64 ",%" PRId64 ",", r->flat, r->cum);
    csv_string(stdout, v->unit);
    putchar(',');
    csv_string(stdout, v->profile->strings[v->frames[r->shown.frame].name]);
    putchar(',');
    csv_string(stdout, v->profile->strings[place->file]);
    printf(",%" PRId64 "\n", place->line);
  }
}

int command_top(const struct options *options) {
  size_t limit;
  if (options->by && strcmp(options->by, "type") == 0)
    return show_types(options);
  if (options->by)
    return show_labels(options);
  const char *format = options->format ? options->format : "text";
  const bool is_markdown = strcmp(format, "md") == 0;
  const bool is_json = strcmp(format, "json") == 0;
  if (!is_markdown && !is_json && strcmp(format, "text") != 0 &&
      strcmp(format, "csv") != 0)
    return complain(options, "--format=%s is not text, md, csv or json",
                    format);
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct view *v = input_view(options);
  if (!v)
    return STATUS_ERROR;
  struct function_table rows = functions_of(v, options->std, options->cum);
  const size_t count = limit && limit < rows.count ? limit : rows.count;
  if (strcmp(format, "csv") == 0) {
    print_csv(v, &rows, count);
    input_print_view_losses(v, stderr);
    return STATUS_OK;
  }
  if (is_json) {
    json_put_top(stdout, options, v, &rows, count);
    return STATUS_OK;
  }
  const struct style style = input_begin_output(options);
  const enum view_grain grain = input_view_options(options).grain;
  if (is_markdown) {
    struct table *t = top_table(v, &rows, count, "function", true);
    table_print_markdown(t, stdout);
    table_free(t);
    char *lost = input_losses(v);
    markup_put_paragraphs(stdout, lost);
    free(lost);
  } else {
    show_top(v, &rows, limit, grain, stdout, &style, "-n 0");
  }
  functions_free(&rows);
  return STATUS_OK;
}
