// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/jit_switches.h"

#include "common/memory.h"
#include "names/elf_info.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct language {
  size_t option; // offset in struct options
  // Beginnings of the name of the program's file. Behind them are only digits
  // and dots.
  const char *programs[2];
  const char *what, *name;           // of the option
  const char *variable, *value;      // of the environment
  const char *switches, *own_switch; // own_switch: the user has set it himself
} languages[] = {
    {offsetof(struct options, node),
     {"node", "nodejs"},
     "functions of JavaScript",
     "node",
     "NODE_OPTIONS",
     "--perf-basic-prof --interpreted-frames-native-stack",
     "node --perf-basic-prof --interpreted-frames-native-stack",
     "--perf-"},
    {offsetof(struct options, java),
     {"java"},
     "methods of Java",
     "java",
     "JAVA_TOOL_OPTIONS",
     // Versions before 17 do not know the last one.
     "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "
     "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
     "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
     "-XX:+DumpPerfMapAtExit",
     "PreserveFramePointer"}};
enum { LANGUAGES = sizeof languages / sizeof *languages };

static bool has_option(const struct options *o, const struct language *l) {
  return *(const bool *)((const char *)o + l->option);
}

void jit_switches_set(const struct options *o) {
  for (size_t i = 0; i < LANGUAGES; i++) {
    const struct language *l = &languages[i];
    const char *before = getenv(l->variable);
    if (!has_option(o, l))
      continue;
    char *value = before && *before ? text_of("%s %s", before, l->value)
                                    : text_of("%s", l->value);
    setenv(l->variable, value, 1);
    free(value);
  }
}

// Returns whether the path is that of the language's program.
static bool is_program(const struct language *l, const char *path) {
  const char *base = basename(path);
  for (size_t i = 0; i < 2 && l->programs[i]; i++) {
    const size_t length = strlen(l->programs[i]);
    if (strncmp(base, l->programs[i], length) == 0 &&
        !base[length + strspn(base + length, "0123456789.")])
      return true;
  }
  return false;
}

static bool user_sets(const struct options *o, const struct language *l) {
  const char *variable = getenv(l->variable);
  if (has_option(o, l) || (variable && strstr(variable, l->own_switch)))
    return true;
  for (int i = 1; i < o->path_count; i++)
    if (strstr(o->paths[i], l->own_switch))
      return true;
  return false;
}

void jit_switches_hint(const struct options *o) {
  char *path = elf_find_program(o->paths[0]);
  char *real = path ? realpath(path, NULL) : NULL;
  for (size_t i = 0; i < LANGUAGES && path; i++) {
    const struct language *l = &languages[i];
    if ((is_program(l, path) || (real && is_program(l, real))) &&
        !user_sets(o, l))
      complain(o, "note: %s have no names; mprof run --%s gives them (%s)",
               l->what, l->name, l->switches);
  }
  free(real);
  free(path);
}
