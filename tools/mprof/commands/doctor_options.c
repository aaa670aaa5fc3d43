// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/doctor_options.h"

#include "sys/flags.h"
#include "sys/message.h"
#include "terminal/style.h"

#include <inttypes.h>
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

bool doctor_explain_options(const char *text) {
  static struct mprof_flags now, before;
  bool has_any = false;
  mprof_message_init();
  mprof_flags_defaults(&before);
  mprof_flags_defaults(&now);
  fflush(stdout);
  mprof_flags_parse(&now, text, "MPROF_OPTIONS");
#define MPROF_FLAG_BOOL(Name, Default, Help)                                   \
  if (now.Name != before.Name) {                                               \
    print_number(#Name, now.Name, Help);                                       \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Help)                         \
  if (now.Name != before.Name) {                                               \
    print_number(#Name, now.Name, Help);                                       \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_STR(Name, Default, Help)                                    \
  if (strcmp(now.Name, before.Name) != 0) {                                    \
    print_row(#Name, now.Name, Help);                                          \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_LIST(Name, Default, Help) MPROF_FLAG_STR(Name, Default, Help)
#define MPROF_FLAG_ALIAS(Old, Name)
#include "sys/flags.def"
  if (!has_any)
    puts("option   all options have their defaults");
  return !has_any && *text;
}
