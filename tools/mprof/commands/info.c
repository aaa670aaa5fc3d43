// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof info: what a profile contains, and what it lacks.

#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/options.h"
#include "common/memory.h"
#include "common/plural.h"
#include "common/saturate.h"
#include "files/json.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/estimate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int64_t sum_of(const struct profile *p, unsigned type,
                      double *variance) {
  int64_t sum = 0;
  *variance = 0;
  for (size_t k = 0; k < p->sample_count; k++) {
    const int64_t value = p->values[k * p->type_count + type];
    add_to(&sum, value);
    *variance += estimate_variance(p, &p->samples[k], type, value);
  }
  return sum;
}

static void print_types(const struct profile *p, const struct style *style) {
  struct table *t = table_new();
  table_column(t, "values", ALIGN_LEFT);
  table_column(t, "sum", ALIGN_RIGHT);
  table_column(t, "", ALIGN_LEFT);
  for (unsigned i = 0; i < p->type_count; i++) {
    double variance;
    const int64_t sum = sum_of(p, i, &variance);
    const char *unit = p->strings[p->types[i].unit];
    table_cell(t, p->strings[p->types[i].type]);
    table_cell(t,
               quantity_with_error(sum, variance, unit, style->has_utf8).text);
    table_cell(t, i == profile_default_type(p) ? "(default)" : "");
  }
  table_print(t, stdout, style);
  table_free(t);
}

static size_t named_addresses(const struct profile *p) {
  size_t named = 0;
  for (size_t i = 0; i < p->location_count; i++)
    named += p->locations[i].line_count > 0;
  return named;
}

static void print_names(const struct profile *p) {
  const size_t named = named_addresses(p);
  printf(
      "\n%zu stack%s and label set%s, %zu address%s, %zu of them with names, "
      "%zu function%s\n",
      p->sample_count, plural(p->sample_count), plural(p->sample_count),
      p->location_count, p->location_count == 1 ? "" : "es", named,
      p->function_count, plural(p->function_count));
}

// Returns the number of addresses in each mapping. The caller frees the array.
static size_t *addresses_of_mappings(const struct profile *p) {
  size_t *used = zeroed(p->mapping_count, sizeof *used);
  for (size_t i = 0; i < p->location_count; i++)
    if (p->locations[i].mapping != NO_MAPPING)
      used[p->locations[i].mapping]++;
  return used;
}

static void print_mappings(const struct profile *p, const struct style *style) {
  if (p->mapping_count == 0)
    return;
  size_t *used = addresses_of_mappings(p);
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

static void print_json(const struct profile *p) {
  size_t *used = addresses_of_mappings(p);
  size_t *keys = zeroed(p->string_count, sizeof *keys);
  const char *comma = "";
  fputs("{\"mprof_info\": 1", stdout);
  json_put_text(stdout, "command", input_comment(p, "command"));
  printf(", \"time_ns\": %" PRId64 ", \"period\": %" PRId64, p->time_ns,
         p->period);
  json_put_text(stdout, "period_type", p->strings[p->period_type.type]);
  printf(",\n \"stacks\": %zu, \"addresses\": %zu, \"named_addresses\": %zu, "
         "\"functions\": %zu, \"is_truncated\": %s,\n \"values\": [",
         p->sample_count, p->location_count, named_addresses(p),
         p->function_count, p->is_truncated ? "true" : "false");
  for (unsigned i = 0; i < p->type_count; i++) {
    double variance;
    const int64_t sum = sum_of(p, i, &variance);
    printf("%s\n  {\"sum\": %" PRId64 ", \"standard_error\": %.0f", comma, sum,
           sqrt(variance));
    json_put_text(stdout, "type", p->strings[p->types[i].type]);
    json_put_text(stdout, "unit", p->strings[p->types[i].unit]);
    printf(", \"is_default\": %s}",
           i == profile_default_type(p) ? "true" : "false");
    comma = ",";
  }
  comma = "";
  fputs("],\n \"files\": [", stdout);
  for (size_t i = 0; i < p->mapping_count; i++) {
    if (!used[i])
      continue;
    printf("%s\n  {\"addresses\": %zu", comma, used[i]);
    json_put_text(stdout, "build_id", p->strings[p->mappings[i].build_id]);
    json_put_text(stdout, "file", p->strings[p->mappings[i].file]);
    fputs("}", stdout);
    comma = ",";
  }
  comma = "";
  fputs("],\n \"labels\": [", stdout);
  for (size_t i = 0; i < p->label_count; i++)
    if (keys[p->labels[i].key]++ == 0) {
      fputs(comma, stdout);
      json_string(stdout, p->strings[p->labels[i].key]);
      comma = ", ";
    }
  fputs("],\n \"comments\": [", stdout);
  for (size_t i = 0; i < p->comment_count; i++) {
    fputs(i ? ",\n  " : "\n  ", stdout);
    json_string(stdout, p->strings[p->comments[i]]);
  }
  fputs("]}\n", stdout);
  free(used);
  free(keys);
}

int command_info(const struct options *options) {
  struct profile *p = input_read(options, options->paths, options->path_count);
  if (!p)
    return STATUS_ERROR;
  if (option_is(options->format, "json")) {
    print_json(p);
    return STATUS_OK;
  }
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
