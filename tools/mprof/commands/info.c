// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof info: what a profile contains, and what it lacks.

#include "commands/input.h"
#include "commands/options.h"
#include "common/memory.h"
#include "common/plural.h"
#include "common/saturate.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/estimate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_types(const struct profile *p, const struct style *style) {
  struct table *t = table_new();
  table_column(t, "values", ALIGN_LEFT);
  table_column(t, "sum", ALIGN_RIGHT);
  table_column(t, "", ALIGN_LEFT);
  for (unsigned i = 0; i < p->type_count; i++) {
    int64_t sum = 0;
    double variance = 0;
    for (size_t k = 0; k < p->sample_count; k++) {
      const int64_t value = p->values[k * p->type_count + i];
      add_to(&sum, value);
      variance += estimate_variance(p, &p->samples[k], i, value);
    }
    const char *unit = p->strings[p->types[i].unit];
    table_cell(t, p->strings[p->types[i].type]);
    table_cell(t,
               quantity_with_error(sum, variance, unit, style->has_utf8).text);
    table_cell(t, i == profile_default_type(p) ? "(default)" : "");
  }
  table_print(t, stdout, style);
  table_free(t);
}

static void print_names(const struct profile *p) {
  size_t named = 0;
  for (size_t i = 0; i < p->location_count; i++)
    named += p->locations[i].line_count > 0;
  printf(
      "\n%zu stack%s and label set%s, %zu address%s, %zu of them with names, "
      "%zu function%s\n",
      p->sample_count, plural(p->sample_count), plural(p->sample_count),
      p->location_count, p->location_count == 1 ? "" : "es", named,
      p->function_count, plural(p->function_count));
}

static void print_mappings(const struct profile *p, const struct style *style) {
  if (p->mapping_count == 0)
    return;
  size_t *used = zeroed(p->mapping_count, sizeof *used);
  for (size_t i = 0; i < p->location_count; i++)
    if (p->locations[i].mapping != NO_MAPPING)
      used[p->locations[i].mapping]++;
  struct table *t = table_new();
  table_column(t, "addresses", ALIGN_RIGHT);
  table_column(t, "build id", ALIGN_LEFT);
  table_column(t, "file", ALIGN_LEFT);
  for (size_t i = 0; i < p->mapping_count; i++) {
    char count[24];
    if (!used[i])
      continue;
    snprintf(count, sizeof count, "%zu", used[i]);
    table_cell(t, count);
    table_cell(t, p->strings[p->mappings[i].build_id]);
    table_cell(t, p->strings[p->mappings[i].file]);
  }
  putchar('\n');
  table_print(t, stdout, style);
  table_free(t);
  free(used);
}

// Prints each key of the labels, with the number of samples that have it.
static void print_labels(const struct profile *p) {
  size_t *counts = zeroed(p->string_count, sizeof *counts);
  for (size_t i = 0; i < p->label_count; i++)
    counts[p->labels[i].key]++;
  bool is_first = true;
  for (size_t i = 0; i < p->string_count; i++) {
    if (!counts[i])
      continue;
    fputs(is_first ? "\nlabels: " : ", ", stdout);
    is_first = false;
    style_put(stdout, p->strings[i]);
    printf(" (%zu)", counts[i]);
  }
  if (!is_first)
    putchar('\n');
  free(counts);
}

static void print_comments(const struct profile *p) {
  if (p->comment_count)
    putchar('\n');
  for (size_t i = 0; i < p->comment_count; i++) {
    style_put(stdout, p->strings[p->comments[i]]);
    putchar('\n');
  }
}

int command_info(const struct options *options) {
  struct profile *p = input_read(options, options->paths, options->path_count);
  if (!p)
    return STATUS_ERROR;
  const struct style style = input_begin_output(options);
  print_types(p, &style);
  if (p->period)
    printf("\nperiod: %s of %s%s\n",
           quantity_of(p->period, p->strings[p->period_type.unit]).text,
           p->strings[p->period_type.type],
           profile_has_other_periods(p)
               ? "; some samples were taken at another rate"
               : "");
  print_names(p);
  print_mappings(p, &style);
  print_labels(p);
  print_comments(p);
  if (p->is_truncated)
    puts("the file ends too early, so samples or names are missing");
  return STATUS_OK;
}
