// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "common/helper_fork.h"

#include "common/memory.h"
#include "process/helper_environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_variable(const char *text, const char *name) {
  const size_t length = strlen(name);
  return strncmp(text, name, length) == 0 && text[length] == '=';
}

// Returns a copy of the environment for a program that is not profiled. The
// caller frees the copy, and *list if it is not NULL.
static char **clean_environment(char *const *from, char **list) {
  static char mark[] = MPROF_HELPER_MARK;
  size_t n = 0, kept = 0;
  while (from && from[n])
    n++;
  char **to = zeroed(n + 2, sizeof *to);
  *list = NULL;
  for (size_t i = 0; i < n; i++) {
    char *text = from[i];
    if (is_variable(text, "MPROF_OPTIONS") ||
        is_variable(text, MPROF_HELPER_VARIABLE))
      continue;
    if (is_variable(text, "LD_PRELOAD") && !*list) {
      text = *list = strdup(text);
      if (!text || !mprof_preload_list_clean(strchr(text, '=') + 1))
        continue;
    }
    to[kept++] = text;
  }
  to[kept] = mark;
  return to;
}

// If the tool itself is profiled, the runtime reads the environment in the
// child before fork returns there. So the parent changes the environment, and
// restores it.
pid_t helper_fork(void) {
  char **const own = environ;
  static char *list; // part of the environment in the child
  char **const clean = clean_environment(own, &list);
  environ = clean;
  const pid_t pid = fork();
  if (pid != 0) {
    environ = own;
    free(clean);
    free(list);
    list = NULL;
  }
  return pid;
}
