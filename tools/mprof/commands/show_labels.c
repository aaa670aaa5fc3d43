// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_labels.h"

#include "commands/input.h"
#include "common/memory.h"
#include "files/convert.h"
#include "terminal/quantity.h"
#include "terminal/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The samples with one value of the label.
struct row {
  const char *value; // NULL: the samples without the label
  int64_t sum;
};

struct rows {
  struct row *v;
  size_t count, capacity;
};

static const char *value_of(struct profile *p, const struct sample *s,
                            const char *key) {
  for (uint32_t i = 0; i < s->label_count; i++) {
    const struct label *l = &p->labels[s->first_label + i];
    if (strcmp(p->strings[l->key], key) != 0)
      continue;
    if (l->str != 0)
      return p->strings[l->str];
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, l->number);
    return p->strings[profile_text(p, digits)];
  }
  return NULL;
}

// Orders by the strings of the profile, of which no two are equal.
static int by_value(const void *x, const void *y) {
  const char *a = ((const struct row *)x)->value;
  const char *b = ((const struct row *)y)->value;
  return (a > b) - (a < b);
}

static int by_sum(const void *x, const void *y) {
  const struct row *a = x, *b = y;
  if (a->sum != b->sum)
    return a->sum > b->sum ? -1 : 1;
  return strcmp(a->value ? a->value : "", b->value ? b->value : "");
}

static struct rows rows_of(const struct view *v, const char *key) {
  struct rows r = {0};
  for (size_t i = 0; i < v->stack_count; i++)
    *APPEND(r.v, r.count, r.capacity) = (struct row){
        value_of(v->profile, &v->profile->samples[v->stacks[i].sample], key),
        v->stacks[i].value};
  if (r.count == 0)
    return r;
  qsort(r.v, r.count, sizeof *r.v, by_value);
  size_t kept = 0;
  for (size_t i = 1; i < r.count; i++)
    if (r.v[i].value == r.v[kept].value)
      r.v[kept].sum += r.v[i].sum;
    else
      r.v[++kept] = r.v[i];
  r.count = kept + 1;
  qsort(r.v, r.count, sizeof *r.v, by_sum);
  return r;
}

static const char *name_of(const struct row *r) {
  return r->value ? r->value : "[none]";
}

static void print_csv(const struct view *v, const struct rows *r, size_t count,
                      const char *key) {
  fputs("value,unit,", stdout);
  csv_string(stdout, key);
  putchar('\n');
  for (size_t i = 0; i < count; i++) {
    printf("%" PRId64 ",", r->v[i].sum);
    csv_string(stdout, v->unit);
    putchar(',');
    csv_string(stdout, name_of(&r->v[i]));
    putchar('\n');
  }
}

static struct table *table_of(const struct view *v, const struct rows *r,
                              size_t count, const char *key) {
  struct table *t = table_new();
  table_column(t, v->type_name, ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, key, ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    table_cell(t, quantity_of(r->v[i].sum, v->unit).text);
    table_cell(t, quantity_share(r->v[i].sum, v->total).text);
    table_cell(t, name_of(&r->v[i]));
  }
  return t;
}

void print_labels(const struct view *v, const char *key, FILE *out,
                  const struct style *style) {
  struct rows r = rows_of(v, key);
  struct table *t = table_of(v, &r, r.count, key);
  fputc('\n', out);
  table_print(t, out, style);
  table_free(t);
  free(r.v);
}

int show_labels(const struct options *options) {
  size_t limit;
  const char *key = options->by;
  const char *format = options->format ? options->format : "text";
  const bool is_csv = strcmp(format, "csv") == 0,
             is_markdown = strcmp(format, "md") == 0;
  if (!is_csv && !is_markdown && strcmp(format, "text") != 0)
    return complain(options, "--format=%s is not text, md or csv", format);
  if (options->cum || options->lines || options->files || options->functions)
    return complain(options,
                    "--by=%s excludes --cum, --functions, --lines and --files",
                    key);
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct view *v = input_view(options);
  if (!v)
    return STATUS_ERROR;
  struct rows r = rows_of(v, key);
  if (r.count == 0 || (r.count == 1 && !r.v[0].value)) {
    free(r.v);
    if (v->stack_count == 0 && v->profile_total != 0)
      return complain(options, "no stack matches the options");
    const char *other = input_labelled_type(v, key);
    if (other)
      return complain(options,
                      "no sample of these values has the label %s; "
                      "--sample=%s has some",
                      key, other);
    return complain(options,
                    "--by=%s is not type, and no sample has the label %s", key,
                    key);
  }
  const size_t count = limit && limit < r.count ? limit : r.count;
  if (is_csv) {
    print_csv(v, &r, count, key);
    input_print_view_losses(v, stderr);
  } else {
    const struct style style = input_begin_output(options);
    struct table *t = table_of(v, &r, count, key);
    if (is_markdown) {
      table_print_markdown(t, stdout);
    } else {
      input_print_title(v, stdout, &style);
      table_print(t, stdout, &style);
      input_print_end(v, stdout, &style, count, r.count, "values", "-n 0");
    }
    table_free(t);
  }
  free(r.v);
  return STATUS_OK;
}
