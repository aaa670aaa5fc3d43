// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools.h"

#include "common/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *trace_tool_name = "mprof trace";

void trace_say(const char *format, ...) {
  char *text;
  va_list args;
  va_start(args, format);
  const int length = vasprintf(&text, format, args);
  va_end(args);
  if (length < 0)
    return;
  printable_put(stderr, text, (size_t)length);
  fputc('\n', stderr);
  free(text);
}

// --- help, from the table verbs.def ---

static const struct {
  const char *name, *arguments, *text;
} verbs[] = {
#define VERB(Name, Arguments, Text) {#Name, Arguments, Text},
#include "verbs.def"
};

static const struct {
  const char *verb;
  char letter;
  const char *name, *argument, *text;
} options[] = {
#define VERB_OPTION(Verb, Letter, Name, Argument, Text)                        \
  {#Verb, Letter, Name, Argument, Text},
#include "verbs.def"
};

static const struct {
  const char *verb, *status, *text;
} statuses[] = {
#define VERB_STATUS(Verb, Status, Text) {#Verb, Status, Text},
#include "verbs.def"
};

void trace_usage(FILE *out, const char *verb) {
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
    if (strcmp(verbs[i].name, verb) == 0)
      fprintf(out, "Usage: %s %s\n%s\n\n", trace_tool_name, verbs[i].arguments,
              verbs[i].text);
  trace_usage_options(out, verb);
  fprintf(out, "%-26s %s\n", "  -h --help", "prints this help");
  fputs("\nExit status:\n", out);
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
    if (strcmp(statuses[i].verb, verb) == 0)
      fprintf(out, "  %-6s %s\n", statuses[i].status, statuses[i].text);
}

void trace_usage_options(FILE *out, const char *verb) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char left[64];
    if (strcmp(options[i].verb, verb) != 0)
      continue;
    const char letter = options[i].letter ? options[i].letter : ' ';
    snprintf(left, sizeof left, "  %c%c --%s%s%s",
             options[i].letter ? '-' : ' ', letter, options[i].name,
             *options[i].argument ? "=" : "", options[i].argument);
    fprintf(out, "%-26s %s\n", left, options[i].text);
  }
}
