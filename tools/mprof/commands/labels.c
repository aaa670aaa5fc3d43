// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof labels and mprof top --by=LABEL: the values of each label, or of one,
// such as the customers, with the bytes or the time of each.

#include "commands/show_top.h"

#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/options.h"
#include "commands/sections.h"
#include "common/memory.h"
#include "common/saturate.h"
#include "files/convert.h"
#include "files/json.h"
#include "terminal/markup.h"
#include "terminal/quantity.h"
#include "terminal/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The sum of the samples with a label. Only with --by: label.key is 0 for the
// samples without the label.
struct row {
  struct label label;
  int64_t value;
  double variance;
};

// The rows of one key follow each other, the largest first.
struct rows {
  struct row *items;
  size_t count, capacity;
};

static const char **strings; // for the comparison; one thread sorts

static int by_key(const struct label *a, const struct label *b) {
  return a->key == b->key ? 0 : strcmp(strings[a->key], strings[b->key]);
}

static int by_label(const void *x, const void *y) {
  const struct label *a = &((const struct row *)x)->label;
  const struct label *b = &((const struct row *)y)->label;
  if (a->key != b->key)
    return by_key(a, b);
  if (a->str != b->str)
    return strcmp(strings[a->str], strings[b->str]);
  return (a->number > b->number) - (a->number < b->number);
}

static int by_value(const void *x, const void *y) {
  const struct row *a = x, *b = y;
  return a->value != b->value ? (a->value > b->value ? -1 : 1) : by_label(x, y);
}

static int by_key_and_value(const void *x, const void *y) {
  const struct row *a = x, *b = y;
  const int order = by_key(&a->label, &b->label);
  return order ? order : by_value(x, y);
}

// Returns the labels of all stacks: those with the key, or all but the sizes of
// blocks if key is NULL.
static struct rows rows_of(const struct view *v, const char *key) {
  const struct profile *p = v->profile;
  struct rows all = {0};
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct sample *s = &p->samples[v->stacks[i].sample];
    struct row row = {{0}, size_of(v->stacks[i].value), v->stacks[i].variance};
    for (uint32_t k = 0; k < s->label_count; k++) {
      const struct label *l = &p->labels[s->first_label + k];
      if (strcmp(p->strings[l->key], key ? key : "bytes") == 0 ? !key : !!key)
        continue;
      row.label = *l;
      *APPEND(all.items, all.count, all.capacity) = row;
      if (key)
        break;
    }
    if (key && !row.label.key)
      *APPEND(all.items, all.count, all.capacity) = row;
  }
  strings = p->strings;
  size_t kept = 0;
  if (all.count)
    qsort(all.items, all.count, sizeof *all.items, by_label);
  for (size_t i = 0; i < all.count; i++) {
    if (kept && by_label(&all.items[kept - 1], &all.items[i]) == 0) {
      add_to(&all.items[kept - 1].value, all.items[i].value);
      all.items[kept - 1].variance += all.items[i].variance;
    } else {
      all.items[kept++] = all.items[i];
    }
  }
  all.count = kept;
  if (kept)
    qsort(all.items, kept, sizeof *all.items,
          key ? by_value : by_key_and_value);
  return all;
}

// Returns the index behind the last row with the key of row i. Adds up the
// values of these rows.
static size_t end_of_key(const struct rows *all, size_t i, int64_t *sum) {
  size_t end = i;
  *sum = 0;
  for (;
       end < all->count && all->items[end].label.key == all->items[i].label.key;
       end++)
    add_to(sum, all->items[end].value);
  return end;
}

static const char *text_of_value(const struct label *l) {
  static struct quantity q;
  if (l->str)
    return strings[l->str];
  q = quantity_of(l->number, l->unit ? strings[l->unit] : "count");
  return q.text;
}

// The rows of the key that begins at row `first`, at most `limit`, and a row
// for samples without this label.
static struct table *table_of(const struct view *v, const struct rows *all,
                              size_t first, size_t limit, bool has_utf8) {
  int64_t sum;
  const size_t end = end_of_key(all, first, &sum);
  struct table *t = table_new();
  table_column(t, v->type_name, ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, strings[all->items[first].label.key], ALIGN_LEFT);
  for (size_t i = first; i < end && (!limit || i < first + limit); i++) {
    const struct row *r = &all->items[i];
    table_cell(
        t, quantity_with_error(r->value, r->variance, v->unit, has_utf8).text);
    table_cell(t, quantity_share(r->value, v->total).text);
    table_cell(t, text_of_value(&r->label));
  }
  if (sum < v->total) {
    table_cell(t, quantity_of(v->total - sum, v->unit).text);
    table_cell(t, quantity_share(v->total - sum, v->total).text);
    table_cell(t, "[no label]");
  }
  return t;
}

static void print_json(const struct options *options, const struct view *v,
                       const struct rows *all, size_t limit) {
  json_begin(stdout, options, v, all->count);
  fputs("\"labels\": [", stdout);
  for (size_t i = 0, end; i < all->count; i = end) {
    int64_t sum;
    end = end_of_key(all, i, &sum);
    fputs(i ? ",\n  {\"key\": " : "\n  {\"key\": ", stdout);
    json_string(stdout, strings[all->items[i].label.key]);
    printf(", \"unlabelled\": %" PRId64 ", \"values\": [",
           sum < v->total ? v->total - sum : 0);
    for (size_t k = i; k < end && (!limit || k < i + limit); k++) {
      const struct row *r = &all->items[k];
      printf("%s\n    {\"value\": %" PRId64 ", \"standard_error\": %.0f",
             k > i ? "," : "", r->value, sqrt(r->variance));
      json_put_text(stdout, "label", text_of_value(&r->label));
      fputs("}", stdout);
    }
    fputs("]}", stdout);
  }
  fputs("]", stdout);
  json_end(stdout, v);
}

static void print_markdown(const struct view *v, const struct rows *all,
                           size_t limit) {
  int64_t sum;
  for (size_t i = 0; i < all->count; i = end_of_key(all, i, &sum)) {
    struct table *t = table_of(v, all, i, limit, true);
    if (i)
      putchar('\n');
    table_print_markdown(t, stdout);
    table_free(t);
  }
  char *lost = input_losses(v);
  markup_put_paragraphs(stdout, lost);
  free(lost);
}

// Returns whether MProf itself adds the label (html/views.js has the same
// list).
static bool is_own(const char *key) {
  static const char *const own[] = {"bytes",  "heap_rate", "lifetime", "kind",
                                    "lock",   "holder",    "state",    "grade",
                                    "thread", "cycle",     "step"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strcmp(key, own[i]) == 0)
      return true;
  return false;
}

bool labels_section(const struct view *v, size_t index, size_t limit) {
  struct rows all = rows_of(v, NULL);
  int64_t sum = 0;
  size_t i = 0;
  for (; i < all.count; i = end_of_key(&all, i, &sum))
    if (!is_own(strings[all.items[i].label.key]) && index-- == 0)
      break;
  const bool is_found = i < all.count;
  if (is_found) {
    const struct row *first = &all.items[i];
    end_of_key(&all, i, &sum);
    fputs("\n## By the label ", stdout);
    markup_put_markdown(stdout, strings[first->label.key]);
    printf("\n\n%s of ", quantity_of(sum, v->unit).text);
    printf("%s of ", quantity_of(v->total, v->unit).text);
    markup_put_markdown(stdout, v->type_name);
    printf(" has this label; %s of it for ",
           quantity_share(first->value, sum).text);
    markup_put_markdown(stdout, text_of_value(&first->label));
    fputs(".\n\n", stdout);
    struct table *t = table_of(v, &all, i, limit, true);
    table_print_markdown(t, stdout);
    table_free(t);
  }
  free(all.items);
  return is_found;
}

static void print_text(const struct view *v, const struct rows *all,
                       size_t limit, const struct style *style) {
  size_t shown = 0;
  int64_t sum;
  input_print_title(v, stdout, style);
  for (size_t i = 0, end; i < all->count; i = end) {
    end = end_of_key(all, i, &sum);
    shown += limit && limit < end - i ? limit : end - i;
    struct table *t = table_of(v, all, i, limit, style->has_utf8);
    if (i)
      putchar('\n');
    table_print(t, stdout, style);
    table_free(t);
  }
  const char *other = all->count ? NULL : input_labelled_type(v, NULL);
  if (other)
    printf("no label here; mprof labels --sample=%s has some\n", other);
  else if (all->count == 0)
    puts("no label; MPROF_LABELS(\"customer\", NAME); sets one in a program");
  input_print_end(v, stdout, style, shown, all->count, "values", "-n 0");
}

int command_labels(const struct options *options) {
  size_t limit;
  const bool is_json = option_is(options->format, "json"),
             is_markdown = option_is(options->format, "md");
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct view *v = input_view(options);
  if (!v)
    return STATUS_ERROR;
  struct rows all = rows_of(v, NULL);
  if (is_json) {
    print_json(options, v, &all, limit);
  } else {
    const struct style style = input_begin_output(options);
    if (is_markdown)
      print_markdown(v, &all, limit);
    else
      print_text(v, &all, limit, &style);
  }
  free(all.items);
  return STATUS_OK;
}

// --- top --by ---

static const char *name_of(const struct row *r) {
  static char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, r->label.number);
  return !r->label.key  ? "[none]"
         : r->label.str ? strings[r->label.str]
                        : digits;
}

// Says that no sample has the label, and which labels samples have.
static int complain_of_label(const struct options *options,
                             const struct view *v, const char *key) {
  struct rows all = rows_of(v, NULL);
  char *names = NULL;
  size_t length;
  int64_t sum;
  FILE *out = open_memstream(&names, &length);
  for (size_t i = 0; out && i < all.count; i = end_of_key(&all, i, &sum))
    fprintf(out, "%s%s", i ? ", " : "", strings[all.items[i].label.key]);
  if (out)
    fclose(out);
  free(all.items);
  complain(options, "--by=%s is not type, and no sample has the label %s; %s%s",
           key, key,
           names && *names ? "they have the labels " : "they have no labels",
           names ? names : "");
  free(names);
  return STATUS_ERROR;
}

static void print_csv(const struct view *v, const struct rows *r, size_t count,
                      const char *key) {
  fputs("value,unit,", stdout);
  csv_string(stdout, key);
  putchar('\n');
  for (size_t i = 0; i < count; i++) {
    printf("%" PRId64 ",", r->items[i].value);
    csv_string(stdout, v->unit);
    putchar(',');
    csv_string(stdout, name_of(&r->items[i]));
    putchar('\n');
  }
}

static struct table *table_by(const struct view *v, const struct rows *r,
                              size_t count, const char *key) {
  struct table *t = table_new();
  table_column(t, v->type_name, ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, key, ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    table_cell(t, quantity_of(r->items[i].value, v->unit).text);
    table_cell(t, quantity_share(r->items[i].value, v->total).text);
    table_cell(t, name_of(&r->items[i]));
  }
  return t;
}

void print_labels(const struct view *v, const char *key, FILE *out,
                  const struct style *style) {
  struct rows r = rows_of(v, key);
  struct table *t = table_by(v, &r, r.count, key);
  fputc('\n', out);
  table_print(t, out, style);
  table_free(t);
  free(r.items);
}

int show_labels(const struct options *options) {
  size_t limit;
  const char *key = options->by;
  if (option_is(options->format, "json"))
    return complain(options, "--format=json is not text, md or csv");
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
  if (r.count == 0 || (r.count == 1 && !r.items[0].label.key)) {
    free(r.items);
    if (v->stack_count == 0 && v->profile_total != 0)
      return complain(options, "no stack matches the options");
    const char *other = input_labelled_type(v, key);
    if (other)
      return complain(options,
                      "no sample of these values has the label %s; "
                      "--sample=%s has some",
                      key, other);
    return complain_of_label(options, v, key);
  }
  const size_t count = limit && limit < r.count ? limit : r.count;
  if (option_is(options->format, "csv")) {
    print_csv(v, &r, count, key);
    input_print_view_losses(v, stderr);
  } else {
    const struct style style = input_begin_output(options);
    struct table *t = table_by(v, &r, count, key);
    if (option_is(options->format, "md")) {
      table_print_markdown(t, stdout);
    } else {
      input_print_title(v, stdout, &style);
      table_print(t, stdout, &style);
      input_print_end(v, stdout, &style, count, r.count, "values", "-n 0");
    }
    table_free(t);
  }
  free(r.items);
  return STATUS_OK;
}
