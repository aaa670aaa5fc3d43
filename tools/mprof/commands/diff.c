// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof diff: what changed between two sides of profiles, and whether budgets
// are broken.

#include "commands/add_names.h"
#include "commands/input.h"
#include "commands/options.h"
#include "compare/comparison.h"
#include "files/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Returns the style of a text that goes to a file.
static struct style style_of_file(const struct options *options) {
  struct style style =
      style_of_output(options->colour ? options->colour : "never");
  style.width = 0;
  return style;
}

static void print(const struct options *options, const struct comparison *d,
                  FILE *out) {
  if (option_is(options->format, "md")) {
    comparison_print_markdown(d, out);
  } else if (option_is(options->format, "json")) {
    comparison_print_json(d, out);
    fputs(d->lost, stderr);
  } else if (option_is(options->format, "html")) {
    comparison_print_html(d, out);
  } else {
    const struct style style =
        options->output ? style_of_file(options) : input_begin_output(options);
    comparison_print_text(d, out, &style);
  }
}

// Writes the file that --output names. Returns STATUS_OK, or STATUS_ERROR after
// a message.
static int write_file(const struct options *options,
                      const struct comparison *d) {
  struct bytes bytes = {0};
  FILE *out = open_memstream((char **)&bytes.at, &bytes.length);
  if (!out)
    return complain(options, "%s", strerror(errno));
  print(options, d, out);
  const char *error =
      fclose(out) == 0 ? bytes_write(options->output, &bytes) : strerror(errno);
  free(bytes.at);
  return error ? complain(options, "%s: %s", options->output, error)
               : STATUS_OK;
}

// Tells on stderr which budgets are not kept, because a build log often keeps
// only this stream.
static void warn(const struct options *options, const struct comparison *d) {
  for (size_t i = 0; i < d->budget_count; i++) {
    const struct judged_budget *b = &d->budgets[i];
    if (b->verdict.is_broken || b->verdict.is_noisy)
      complain(options, "budget %s is %s", b->budget.text,
               comparison_verdict(b, true).text);
  }
}

// Checks the arguments. Returns the number of files of OLD, or 0 after a
// message.
static int old_count_of(const struct options *options) {
  const int count = options->path_count;
  const bool has_dashes = options->first_count < count;
  if (!has_dashes && count != 2)
    complain(options, "%d file%s given; write OLD NEW, or OLD... -- NEW...",
             count, count == 1 ? " is" : "s are");
  else if (has_dashes && options->first_count == 0)
    complain(options, "no file stands before --");
  else if (options->lines + options->functions + options->files > 1)
    complain(options, "--functions, --lines and --files exclude each other");
  else
    return has_dashes ? options->first_count : 1;
  return 0;
}

static void find_names(const void *options, struct profile *p) {
  add_names(options, p, NAMES_AUTOMATIC);
}

static struct comparison *compare(const struct options *options,
                                  int old_count) {
  const struct view_options view = input_view_options(options);
  char error[512];
  struct comparison *d = comparison_new(
      &(struct comparison_options){.paths = options->paths,
                                   .old_count = old_count,
                                   .path_count = options->path_count,
                                   .view = &view,
                                   .budgets = &options->fail_if,
                                   .keeps_std = options->std,
                                   .is_exact = options->exact,
                                   .compares_all =
                                       !options->fail_if.count &&
                                       !option_is(options->format, "json"),
                                   .reader = input_file_read,
                                   .prepare = find_names,
                                   .arg = options},
      error, sizeof error);
  if (!d)
    complain(options, "%s", error);
  return d;
}

// Stores the command lines of both programs.
static void find_commands(struct comparison *d) {
  const struct profile *p = d->sides->profile;
  d->command[OLD] = input_comment(p, "command");
  d->command[NEW] =
      input_comment_from(p, "command", d->sides->side[NEW].first_comment);
  if (d->command[NEW] == d->command[OLD])
    d->command[NEW] = NULL;
}

int command_diff(const struct options *options) {
  size_t limit;
  if (!input_count(options, &limit) || !add_names_check(options))
    return STATUS_ERROR;
  const int old_count = old_count_of(options);
  if (old_count == 0)
    return STATUS_ERROR;
  struct comparison *d = compare(options, old_count);
  if (!d)
    return STATUS_ERROR;
  if (d->empty_type)
    complain(options, "note: %s is 0 on both sides, so %s is compared",
             d->empty_type, d->values->view->type_name);
  const bool is_json = option_is(options->format, "json");
  d->row_limit = is_json && !options->count ? 0 : limit;
  d->shows_noise = options->all;
  find_commands(d);
  d->lost = input_losses(d->values->view);
  if (!options->output)
    print(options, d, stdout);
  else if (write_file(options, d) != STATUS_OK)
    return STATUS_ERROR;
  if ((options->format && !option_is(options->format, "text")) ||
      options->output)
    warn(options, d);
  if (options->fail_if.count && d->sides->profile->is_truncated)
    return complain(options, "a file ends too early, so the budgets cannot be "
                             "checked; write it again");
  return d->broken_count ? STATUS_BUDGET : STATUS_OK;
}
