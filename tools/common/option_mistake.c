// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "common/option_mistake.h"

#include "common/printable.h"

#include <stdbool.h>
#include <string.h>

static bool is_letter(const char *shorts, int letter) {
  return letter != ':' && strchr(shorts + strspn(shorts, "+-:"), letter);
}

// Returns the option of which optopt is the value, or NULL. getopt_long sets
// optopt to 0 if it does not know a long option.
static const struct option *known(const struct option *longs) {
  for (; longs->name && optopt != 0; longs++)
    if (longs->val == optopt)
      return longs;
  return NULL;
}

// Prints a long option that is unknown, or that is the begin of several names.
static void print_unknown(const char *argument, const struct option *longs) {
  const size_t length = strcspn(argument, "=");
  unsigned count = 0;
  for (const struct option *o = longs; o->name; o++)
    count += strncmp(o->name, argument + 2, length - 2) == 0;
  fputs(count > 1 ? "option '" : "unrecognized option '", stderr);
  printable_put(stderr, argument, strlen(argument));
  fputs(count > 1 ? "' is ambiguous; possibilities:" : "'", stderr);
  for (; longs->name && count > 1; longs++)
    if (strncmp(longs->name, argument + 2, length - 2) == 0)
      fprintf(stderr, " '--%s'", longs->name);
}

void option_mistake(const char *name, char **argv, const char *shorts,
                    const struct option *longs) {
  const char *argument = argv[optind - 1], letter = (char)optopt;
  const struct option *option = known(longs);
  fprintf(stderr, "%s: ", name);
  if (optopt == 0) {
    print_unknown(argument, longs);
  } else if (option) {
    fprintf(stderr, "option '--%s' %s an argument", option->name,
            option->has_arg ? "requires" : "doesn't allow");
  } else {
    const bool lacks_argument = is_letter(shorts, optopt);
    fputs(lacks_argument ? "option requires an argument -- '"
                         : "invalid option -- '",
          stderr);
    printable_put(stderr, &letter, 1);
    fputc('\'', stderr);
  }
  fputc('\n', stderr);
}
