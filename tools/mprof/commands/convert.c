// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof convert: writes a profile in the format of another viewer.

#include "files/convert.h"
#include "commands/input.h"
#include "commands/options.h"
#include "common/plural.h"
#include "files/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct format {
  const char *name;
  void (*write)(const struct view *v, FILE *out);
} formats[] = {
    {"folded", write_folded},
    {"speedscope", write_speedscope},
    {"callgrind", write_callgrind},
    {"chrome", write_chrome},
    {"csv", write_csv},
};

// Prints how many stacks the format cannot have.
static void print_negative(const struct view *v, const char *name) {
  size_t count = 0;
  for (size_t i = 0; i < v->stack_count; i++)
    count += v->stacks[i].value < 0;
  if (count)
    fprintf(stderr,
            "lost: %zu stack%s with a negative value, which the format %s "
            "cannot have\n",
            count, plural(count), name);
}

int command_convert(const struct options *options) {
  const char *name = options->to ? options->to : "folded";
  const struct format *format = formats;
  if (strcmp(name, "pprof") == 0)
    return command_merge(options);
  while (strcmp(format->name, name) != 0)
    format++;
  // KCachegrind adds up the lines of a function itself.
  struct options wanted = *options;
  wanted.lines |= format->write == write_callgrind;
  struct view *v = input_view(&wanted);
  if (!v)
    return STATUS_ERROR;
  struct bytes bytes = {0};
  FILE *out = open_memstream((char **)&bytes.at, &bytes.length);
  if (!out)
    return complain(options, "%s", strerror(errno));
  format->write(v, out);
  input_print_view_losses(v, stderr);
  if (format->write == write_speedscope || format->write == write_chrome)
    print_negative(v, name);
  const char *error =
      fclose(out) == 0
          ? bytes_write(options->output ? options->output : "-", &bytes)
          : strerror(errno);
  free(bytes.at);
  return error ? complain(options, "%s: %s", options->output, error)
               : STATUS_OK;
}
