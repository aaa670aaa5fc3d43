// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/process_mprof.h"

#include "common/memory.h"
#include "names/elf_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the value of a variable of the process's environment at its start, or
// NULL. The caller frees it.
static char *environment_of(const char *pid, const char *name) {
  char path[64], *line = NULL, *value = NULL;
  size_t capacity = 0;
  const size_t length = strlen(name);
  snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
  FILE *file = fopen(path, "re");
  while (file && !value && getdelim(&line, &capacity, '\0', file) > 0)
    if (strncmp(line, name, length) == 0 && line[length] == '=')
      value = text_of("%s", line + length + 1);
  free(line);
  if (file)
    fclose(file);
  return value;
}

static bool is_linked(const struct elf_info *info) {
  bool is = info->has_runtime;
  for (size_t i = 0; i < info->needed_count && !is; i++)
    is = strncmp(info->needed[i], "libmprof_", strlen("libmprof_")) == 0;
  return is;
}

bool process_has_mprof(const char *pid) {
  char path[64];
  struct elf_info info = {0};
  char *preload = environment_of(pid, "LD_PRELOAD");
  snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
  bool has = preload && strstr(preload, "libmprof_preload.so") != NULL;
  free(preload);
  if (!has && elf_info_read(path, &info) == NULL) {
    has = is_linked(&info);
    elf_info_free(&info);
  }
  return has;
}

// Returns the first name in dump_on_signal of a signal that the program has for
// this only, or NULL. The caller frees it.
static char *dump_signal_of(const char *pid) {
  static const char name[] = "dump_on_signal=";
  char *options = environment_of(pid, "MPROF_OPTIONS"), *found = NULL;
  for (char *at = options; at && (at = strstr(at, name)) != NULL;) {
    at += strlen(name);
    free(found);
    found = NULL;
    for (size_t n; !found && (n = strcspn(at, "+:, \t\n")) > 0;
         at += n + (at[n] == '+')) {
      char *word = text_of("%.*s", (int)n, at);
      if (strcmp(word, "terminate") != 0 && strcmp(word, "crash") != 0 &&
          strcmp(word, "none") != 0)
        found = text_of("%s", strncmp(word, "SIG", 3) == 0 ? word + 3 : word);
      free(word);
    }
  }
  free(options);
  return found;
}

char *process_how_to_ask(const char *pid) {
  char *signal = dump_signal_of(pid);
  char *text =
      text_of("%s%s%s%s%sstart it with MPROF_OPTIONS="
              "listen=unix:/tmp/%%p.sock or control_signal=USR2",
              signal ? "kill -" : "", signal ? signal : "", signal ? " " : "",
              signal ? pid : "",
              signal ? " writes its profiles to files; for others, " : "");
  free(signal);
  return text;
}
