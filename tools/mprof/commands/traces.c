// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof traces: the stacks with the largest values.

#include "commands/input.h"
#include "commands/options.h"
#include "commands/show_labels.h"
#include "commands/show_report.h"
#include "terminal/quantity.h"
#include "view/shown_frames.h"
#include "view/stacks.h"

#include <stdio.h>
#include <string.h>

static void print_line(const char *text, const struct style *style) {
  fputs("    ", stdout);
  style_put_parts(stdout, text, style->width > 4 ? style->width - 4 : 0);
}

// Prints the frames. A frame that calls itself directly is printed once, with
// the number of its calls.
static void print_frames(const struct view *v, const struct shown_frame *frames,
                         uint32_t count, const struct style *style) {
  for (uint32_t i = 0; i < count;) {
    uint32_t repeats = 1;
    while (i + repeats < count && frames[i + repeats].frame == frames[i].frame)
      repeats++;
    print_line(frame_parts(v, &frames[i]).text, style);
    if (repeats > 1)
      printf("  (%u times)", repeats);
    putchar('\n');
    i += repeats;
  }
  if (count == 0)
    puts("    [no stack]");
}

// Prints the stacks of the view, each with its value, its labels and its
// frames.
static void print_stacks(const struct view *v, const struct options *options,
                         size_t limit) {
  const struct style style = input_begin_output(options);
  struct stack_table t = stacks_of(v, options->std);
  const size_t count = limit && limit < t.count ? limit : t.count;
  input_print_title(v, stdout, &style);
  for (size_t i = 0; i < count; i++) {
    const struct stack_row *r = &t.rows[i];
    if (style.has_colour)
      fputs("\033[1m", stdout);
    printf("\n%s  %s",
           quantity_with_error(r->value, r->variance, v->unit, style.has_utf8)
               .text,
           quantity_share(r->value, v->total).text);
    if (style.has_colour)
      fputs("\033[0m", stdout);
    putchar('\n');
    show_labels(v, &t, r, stdout);
    print_frames(v, &t.frames[r->first], r->count, &style);
  }
  input_print_end(v, stdout, &style, count, t.count, "stacks", "-n 0");
  stacks_free(&t);
}

int command_traces(const struct options *options) {
  size_t limit;
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  // The frames of a stack are calls, so show the lines of the calls.
  struct options by_lines = *options;
  by_lines.lines = !options->functions && !options->files;
  struct view *v = input_view(&by_lines);
  if (!v)
    return STATUS_ERROR;
  print_stacks(v, options, limit);
  return STATUS_OK;
}

// Shows the stacks of a profile of threads. wanted: the sample type that the
// profile must have. other: another name of it. none: the text for an empty
// profile. how: how to get a profile.
static int show_threads(const struct options *options, const char *wanted,
                        const char *other, const char *none, const char *how) {
  struct options all = *options;
  size_t limit;
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  all.lines = true;
  struct view *v = input_view(&all);
  if (!v)
    return STATUS_ERROR;
  if (strcmp(v->type_name, wanted) != 0 && strcmp(v->type_name, other) != 0)
    return complain(options, "%s is a profile of %s, not of %s; %s",
                    options->paths[0], v->type_name, wanted, how);
  print_stacks(v, options, options->count ? limit : 0);
  if (v->profile_total == 0)
    puts(none);
  return STATUS_OK;
}

int command_threads(const struct options *options) {
  return show_threads(options, "threads", "goroutine",
                      "the profile has no thread",
                      "to write one, run the program with mprof run --threads");
}

int command_stuck(const struct options *options) {
  if (options->path_count == 1 &&
      show_report(options, options->paths[0], "stuck threads"))
    return STATUS_OK;
  return show_threads(options, "threadleak", "goroutineleak",
                      "no stuck thread was found",
                      "to write one, run the program with mprof run --stuck");
}
