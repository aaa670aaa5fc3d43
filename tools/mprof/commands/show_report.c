// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_report.h"

#include "commands/input.h"

#include <stdio.h>
#include <string.h>

// Returns whether the line is "MProf VERSION TITLE".
static bool is_first_line(const char *line, const char *title) {
  static const char maker[] = "MProf ";
  if (strncmp(line, maker, strlen(maker)) != 0)
    return false;
  const char *version = line + strlen(maker);
  const size_t length = strcspn(version, " \n");
  const size_t rest = strlen(title);
  return version[length] == ' ' &&
         strncmp(version + length + 1, title, rest) == 0 &&
         strcmp(version + length + 1 + rest, "\n") == 0;
}

bool show_report(const struct options *options, const char *path,
                 const char *title) {
  // A longer line is printed in parts.
  char line[4096];
  // A pipe can be read only once, and the profile's reader needs its data.
  FILE *f = input_is_pipe(path) ? NULL : fopen(path, "r");
  if (!f)
    return false;
  const bool is_report =
      fgets(line, sizeof line, f) && is_first_line(line, title);
  if (is_report)
    input_begin_output(options);
  for (bool has_more = is_report; has_more;
       has_more = fgets(line, sizeof line, f)) {
    const size_t length = strcspn(line, "\n");
    const bool ends = line[length] == '\n';
    line[length] = '\0';
    style_put(stdout, line);
    if (ends)
      putchar('\n');
  }
  fclose(f);
  return is_report;
}
