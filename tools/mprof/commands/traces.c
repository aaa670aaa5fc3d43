// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof traces: the stacks with the largest values.

#include "commands/input.h"
#include "commands/options.h"
#include "terminal/quantity.h"
#include "view/frame_text.h"
#include "view/functions.h"
#include "view/stacks.h"

#include <string.h>

static void print_line(const char *text, const struct style *style) {
  fputs("    ", stdout);
  if (style->width > 4)
    style_put_cut(stdout, text, style->width - 4);
  else
    style_put(stdout, text);
}

// Prints the frames. A frame that calls itself directly is printed once, with
// the number of its calls.
static void print_frames(const struct view *v, const struct stack_row *r,
                         const struct style *style) {
  const uint32_t *frames = &v->stack_frames[r->first];
  for (uint32_t i = r->user; i < r->count;) {
    uint32_t repeats = 1;
    while (i + repeats < r->count && frames[i + repeats] == frames[i])
      repeats++;
    const uint32_t via = i == r->user && i > 0 ? frames[i - 1] : NO_FRAME;
    print_line(frame_text_via(v, frames[i], via).text, style);
    if (repeats > 1)
      printf("  (%u times)", repeats);
    putchar('\n');
    i += repeats;
  }
  if (r->count == 0)
    puts("    [no stack]");
}

int command_traces(const struct options *options) {
  size_t limit;
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct view *v = input_view(options);
  if (!v)
    return STATUS_ERROR;
  const struct style style = style_of_output(options->colour);
  const struct stack_table t = stacks_of(v, options->std);
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
    print_frames(v, r, &style);
  }
  input_print_end(v, stdout, &style, count, t.count, "stacks");
  return STATUS_OK;
}
