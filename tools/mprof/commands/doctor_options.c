// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/doctor_options.h"

#include "commands/check_values.h"
#include "options/flags.h"
#include "sys/message.h"
#include "terminal/style.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
  const char *name, *value, *help;
};

static void print_row(const char *name, const char *value, const char *help) {
  printf("option   %s=", name);
  style_put(stdout, value);
  printf("\n         %s\n", help);
}

static void print_number(const char *name, uint64_t value, const char *help) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  print_row(name, text, help);
}

static struct mprof_flags now, before; // with the options, and the defaults
static unsigned mistakes;              // in the text that was parsed last

// Returns false, and does nothing, if the text was parsed last.
static bool parse(const char *text) {
  static char *parsed;
  if (parsed && strcmp(parsed, text) == 0)
    return false;
  free(parsed);
  parsed = strdup(text);
  mprof_message_init();
  before = mprof_flags;
  now = mprof_flags;
  fflush(stdout);
  mistakes = mprof_flags_parse(&now, text, "MPROF_OPTIONS");
  return true;
}

bool doctor_has_new_mistakes(const char *text) {
  return parse(text) && (mistakes != 0 || (*text && !runtime_accepts(&now)));
}

void doctor_explain_options(const char *text) {
  bool has_any = false;
  parse(text);
#define MPROF_FLAG_BOOL(Name, Default, Change, Help)                           \
  if (now.Name != before.Name) {                                               \
    print_number(#Name, now.Name, Help);                                       \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help)                 \
  if (now.Name != before.Name) {                                               \
    print_number(#Name, now.Name, Help);                                       \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_STR(Name, Default, Change, Help)                            \
  if (strcmp(now.Name, before.Name) != 0) {                                    \
    print_row(#Name, now.Name, Help);                                          \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_LIST(Name, Default, Change, Help)                           \
  MPROF_FLAG_STR(Name, Default, Change, Help)
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help)                        \
  MPROF_FLAG_STR(Name, Default, Change, Help)
#include "options/flags.def"
  if (!has_any)
    puts("option   all options have their defaults");
}

bool doctor_accepts_option(const char *text) {
  static struct mprof_flags unused;
  mprof_message_init();
  unused = mprof_flags;
  return mprof_flags_parse(&unused, text, "--option") == 0;
}

struct kind {
  const char *name, *option; // option: switches it on
  bool is_on;
};

// Prints the kinds that are on, or those that are off and their options.
static void print_kinds(const char *title, const struct kind *kinds,
                        size_t count, bool is_on) {
  bool has_any = false;
  for (size_t i = 0; i < count; i++) {
    const struct kind *k = &kinds[i];
    if (k->is_on != is_on)
      continue;
    fputs(has_any ? ", " : title, stdout);
    fputs(k->name, stdout);
    if (!is_on)
      printf(" (%s)", k->option);
    has_any = true;
  }
  if (has_any)
    putchar('\n');
}

void doctor_explain_kinds(const char *text) {
  parse(text);
  const bool has_trace =
      now.trace || now.trace_last[0] != '\0' || now.trace_last_mb != 0;
  const struct kind kinds[] = {
      {"heap", "heap_rate=512k", now.heap_rate != 0},
      {"block", "block_rate=1", now.block_rate != 0},
      {"mutex", "mutex_fraction=1", now.mutex_fraction != 0},
      {"threadcreate", "threadcreate=1", now.threadcreate},
      {"threads", "threads=1", now.threads},
      {"stuck", "stuck=1", now.stuck || now.stuck_report != 0},
      {"trace", "trace=1", has_trace},
  };
  enum { COUNT = sizeof kinds / sizeof *kinds };
  print_kinds("ok       kinds that are on: ", kinds, COUNT, true);
  print_kinds("ok       kinds that are off, and options that switch them on: ",
              kinds, COUNT, false);
}
