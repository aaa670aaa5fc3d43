// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof top: the functions, lines, files, types or labels with the largest
// values.

#include "commands/add_names.h"
#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/options.h"
#include "commands/show_top.h"
#include "files/convert.h"
#include "terminal/markup.h"
#include "view/functions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

// Shows the sum of the files, which are of one kind.
static int show_sum(const struct options *options, size_t limit,
                    const struct style *style) {
  struct view *v = input_view_of_values(options);
  if (!v)
    return STATUS_ERROR;
  struct function_table rows = functions_of(v, options->std, options->cum);
  const size_t count = limit && limit < rows.count ? limit : rows.count;
  const enum view_grain grain = input_view_options(options).grain;
  if (option_is(options->format, "csv")) {
    print_csv(v, &rows, count);
    input_print_view_losses(v, stderr);
  } else if (option_is(options->format, "json")) {
    json_put_top(stdout, options, v, &rows, count);
  } else if (option_is(options->format, "md")) {
    struct table *t = top_table(v, &rows, count, "function", true);
    table_print_markdown(t, stdout);
    table_free(t);
    char *lost = input_losses(v);
    markup_put_paragraphs(stdout, lost);
    free(lost);
  } else {
    // The pager starts when nothing can fail any more.
    const struct style own = style ? *style : input_begin_output(options);
    show_top(v, &rows, limit, grain, stdout, &own, "-n 0");
  }
  functions_free(&rows);
  return STATUS_OK;
}

// Returns the kind of the profile, or "" if that is no file or cannot be read:
// the reader of the sum says why. The caller frees the text.
static char *kind_of(const char *path) {
  struct stat s;
  struct profile *p = profile_new();
  const bool is_known = stat(path, &s) == 0 && S_ISREG(s.st_mode) &&
                        input_file_read(p, path) == NULL;
  const char *kind = is_known ? input_kind(p, path) : "";
  // Who gives the heap of the end of main and that of the exit asks what was
  // freed between them, which is a difference.
  char *text = strdup(strcmp(kind, "main") == 0 ? "heap" : kind);
  profile_free(p);
  return text;
}

// Stores the kind of each file in kinds. Returns whether they differ.
static bool find_kinds(const struct options *options, char **kinds) {
  bool is_mixed = false;
  for (int i = 0; i < options->path_count; i++) {
    kinds[i] = kind_of(options->paths[i]);
    is_mixed |= strcmp(kinds[i], kinds[0]) != 0;
  }
  return is_mixed;
}

// Shows the sum of the files of each kind, in the order of the first ones.
// Takes the kinds out of the array.
static int show_kinds(const struct options *options, char **kinds,
                      size_t limit) {
  const struct style style = input_begin_output(options);
  const int count = options->path_count;
  struct options own = *options;
  int status = STATUS_OK;
  own.paths = calloc((size_t)count, sizeof *own.paths);
  input_say_losses_once();
  for (int first = 0; own.paths && first < count; first++) {
    char *kind = kinds[first];
    if (!kind)
      continue;
    own.path_count = 0;
    for (int i = first; i < count; i++) {
      if (!kinds[i] || strcmp(kinds[i], kind) != 0)
        continue;
      own.paths[own.path_count++] = options->paths[i];
      if (i != first)
        free(kinds[i]);
      kinds[i] = NULL;
    }
    if (first > 0)
      putchar('\n');
    if (option_is(options->format, "md") && *kind)
      printf("### %s\n\n", kind);
    free(kind);
    if (show_sum(&own, limit, &style) != STATUS_OK)
      status = STATUS_ERROR;
  }
  free(own.paths);
  return status;
}

int command_top(const struct options *options) {
  size_t limit;
  if (option_is(options->by, "type"))
    return show_types(options);
  if (options->by)
    return show_labels(options);
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  const bool is_read_by_people =
      !option_is(options->format, "json") && !option_is(options->format, "csv");
  char **kinds = NULL;
  int status;
  if (is_read_by_people && !options->sample && options->path_count > 1)
    kinds = calloc((size_t)options->path_count, sizeof *kinds);
  if (kinds && find_kinds(options, kinds))
    status = show_kinds(options, kinds, limit);
  else
    status = show_sum(options, limit, NULL);
  for (int i = 0; kinds && i < options->path_count; i++)
    free(kinds[i]);
  free(kinds);
  return status;
}
