// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_report.h"

#include "commands/input.h"
#include "commands/name_locks.h"
#include "common/memory.h"
#include "files/bytes.h"

#include <stdio.h>
#include <stdlib.h>
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
         version[length + 1 + rest] == '\n';
}

bool show_report(const struct options *options, const char *path,
                 const char *title) {
  struct bytes bytes;
  // A pipe can be read only once, and the profile's reader needs its data.
  if (input_is_pipe(path) || bytes_read(path, &bytes) != NULL)
    return false;
  char *text = zeroed(bytes.length + 1, 1);
  if (bytes.length)
    memcpy(text, bytes.at, bytes.length);
  free(bytes.at);
  if (!is_first_line(text, title))
    return false;
  text = name_locks(options, text);
  input_begin_output(options);
  for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
    style_put(stdout, line);
    if (rest)
      putchar('\n');
  }
  return true;
}
