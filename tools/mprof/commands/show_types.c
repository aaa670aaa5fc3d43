// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The output of mprof top --by=type; see show_top.h.

#include "commands/show_top.h"

#include "commands/input.h"
#include "files/convert.h"
#include "files/json.h"
#include "terminal/markup.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/types.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *name_of(const struct view *v, const struct type_row *r) {
  return r->name ? v->profile->strings[r->name] : "[unknown]";
}

static void print_csv(const struct view *v, const struct type_table *t,
                      size_t count) {
  puts("bytes,objects,type");
  for (size_t i = 0; i < count; i++) {
    printf("%" PRId64 ",%" PRId64 ",", t->rows[i].values.bytes,
           t->rows[i].values.objects);
    csv_string(stdout, name_of(v, &t->rows[i]));
    putchar('\n');
  }
}

static void print_json(const struct view *v, const struct type_table *t,
                       size_t count) {
  fputs("{\"sample\": ", stdout);
  json_string(stdout, v->type_name);
  printf(", \"bytes\": %" PRId64 ", \"objects\": %" PRId64 ",\n \"types\": [",
         t->total.bytes, t->total.objects);
  for (size_t i = 0; i < count; i++) {
    const struct type_row *r = &t->rows[i];
    fputs(i ? ",\n  {\"type\": " : "\n  {\"type\": ", stdout);
    if (r->name)
      json_string(stdout, name_of(v, r));
    else
      fputs("null", stdout);
    printf(", \"bytes\": %" PRId64 ", \"objects\": %" PRId64 "}",
           r->values.bytes, r->values.objects);
  }
  fputs("]}\n", stdout);
}

static struct table *table_of(const struct view *v, const struct type_table *t,
                              size_t count, bool has_utf8) {
  const struct profile *p = v->profile;
  struct table *table = table_new();
  table_column(table, p->strings[p->types[t->bytes_type].type], ALIGN_RIGHT);
  table_column(table, "share", ALIGN_RIGHT);
  table_column(table, p->strings[p->types[t->objects_type].type], ALIGN_RIGHT);
  table_column(table, "share", ALIGN_RIGHT);
  table_column(table, "type", ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    const struct type_values *r = &t->rows[i].values;
    table_cell(table, quantity_with_error(r->bytes, r->bytes_variance, "bytes",
                                          has_utf8)
                          .text);
    table_cell(table, quantity_share(r->bytes, t->total.bytes).text);
    table_cell(table, quantity_with_error(r->objects, r->objects_variance,
                                          "count", has_utf8)
                          .text);
    table_cell(table, quantity_share(r->objects, t->total.objects).text);
    table_cell(table, name_of(v, &t->rows[i]));
  }
  return table;
}

static void print_unknown(const struct view *v, const struct type_table *t,
                          FILE *out) {
  if (t->unknown)
    fprintf(out,
            "[unknown]: %s of %s is in blocks whose stacks do not tell the "
            "type\n",
            quantity_share(t->unknown, v->total).text, v->type_name);
}

static void print_markdown(const struct view *v, const struct type_table *t,
                           size_t count) {
  struct table *table = table_of(v, t, count, true);
  table_print_markdown(table, stdout);
  table_free(table);
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return;
  print_unknown(v, t, out);
  input_print_view_losses(v, out);
  fclose(out);
  markup_put_paragraphs(stdout, text);
  free(text);
}

static void print_text(const struct view *v, const struct type_table *t,
                       size_t count, const struct style *style) {
  struct table *table = table_of(v, t, count, style->has_utf8);
  input_print_title(v, stdout, style);
  table_print(table, stdout, style);
  table_free(table);
  input_print_end(v, stdout, style, count, t->count, "types", "-n 0");
  print_unknown(v, t, stdout);
}

int show_types(const struct options *options) {
  size_t limit;
  const bool is_csv = option_is(options->format, "csv"),
             is_json = option_is(options->format, "json");
  if (options->cum || options->lines || options->files || options->functions)
    return complain(options, "--by=type excludes --cum, --functions, --lines "
                             "and --files");
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct view *v = input_view(options);
  if (!v)
    return STATUS_ERROR;
  struct type_table t;
  if (!types_of(v, options->full_names, &t))
    return complain(options,
                    "only values such as inuse_space and alloc_objects have "
                    "types of blocks, not %s",
                    v->type_name);
  const size_t count = limit && limit < t.count ? limit : t.count;
  if (is_csv || is_json) {
    (is_csv ? print_csv : print_json)(v, &t, count);
    input_print_view_losses(v, stderr);
  } else {
    const struct style style = input_begin_output(options);
    if (option_is(options->format, "md"))
      print_markdown(v, &t, count);
    else
      print_text(v, &t, count, &style);
  }
  types_free(&t);
  return STATUS_OK;
}
