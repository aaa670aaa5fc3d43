// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/preload.h"

#include "names/elf_info.h"
#include "names/places.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIBRARY "mprof/libmprof_preload.so"

// Returns the path of the library. It is found by the place of this program, so
// that an installed tree can be moved. Returns NULL if it is not there.
static char *find_library(void) {
  static const char *const places[] = {"../" MPROF_LIBDIR "/" LIBRARY,
                                       "../lib/" LIBRARY};
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0)
    return NULL;
  self[length] = '\0';
  *strrchr(self, '/') = '\0';
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char *path = text_of("%s/%s", self, places[i]);
    char *real = realpath(path, NULL);
    free(path);
    if (real)
      return real;
  }
  return NULL;
}

// Returns whether the kernel runs the file with rights that the caller does not
// have. The dynamic linker then ignores LD_PRELOAD.
static bool gives_rights(const char *path) {
  struct stat s;
  if (stat(path, &s) != 0)
    return false;
  const bool sets_user = (s.st_mode & S_ISUID) && s.st_uid != getuid();
  const bool sets_group =
      (s.st_mode & S_ISGID) && (s.st_mode & S_IXGRP) && s.st_gid != getgid();
  const bool has_capabilities =
      getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
  return sets_user || sets_group || has_capabilities;
}

// Returns why nothing can be loaded into the program, or NULL.
static const char *why_not(const char *path, const struct elf_info *info) {
  if (!info->is_of_this_processor)
    return "is a program for another processor";
  if (info->is_static)
    return "is linked statically, so no library can be loaded into it";
  if (info->interpreter && strstr(info->interpreter, "musl"))
    return "uses musl, and the library for programs without MProf uses glibc";
  if (info->has_sanitizer)
    return "is built with a sanitizer, whose malloc must come first";
  if (gives_rights(path))
    return "runs with another user's rights (set-user-ID, set-group-ID or "
           "capabilities), so the dynamic linker loads no library into it";
  return NULL;
}

// Returns whether the library is to be loaded into the ELF file.
static bool is_wanted(const struct options *o, const char *path,
                      const struct elf_info *info) {
  for (size_t i = 0; i < info->needed_count; i++)
    if (strncmp(info->needed[i], "libmprof_rt", 11) == 0 ||
        strncmp(info->needed[i], "libmprof_preload", 16) == 0)
      return false;
  if (info->has_runtime || info->needs_runtime)
    return false;
  const char *reason = why_not(path, info);
  if (reason) {
    complain(o,
             "note: %s is not built with MProf, so it records nothing; it %s; "
             "compile and link it with mprof-clang -fmprof",
             path, reason);
    return false;
  }
  if (info->has_allocator)
    complain(o,
             "note: %s has an allocator of its own, whose allocations are not "
             "seen; waits and threads are; to see the allocations, compile and "
             "link it with mprof-clang -fmprof",
             path);
  return true;
}

// Returns the path of the interpreter of a script, or NULL.
static char *interpreter_of(const char *path) {
  char line[PATH_MAX] = "";
  FILE *file = fopen(path, "re");
  const char *read = file ? fgets(line, sizeof line, file) : NULL;
  if (file)
    fclose(file);
  if (!read || line[0] != '#' || line[1] != '!')
    return NULL;
  const char *name = line + 2 + strspn(line + 2, " \t");
  return strndup(name, strcspn(name, " \t\n"));
}

// The file that the kernel executes: the program, or a script's interpreter.
static char *executed_file(const char *program) {
  char *path = elf_find_program(program);
  char *interpreter = path ? interpreter_of(path) : NULL;
  if (!interpreter)
    return path;
  free(path);
  return interpreter;
}

char *preload_for(const struct options *o, const char *program) {
  char *path = executed_file(program), *value = NULL;
  struct elf_info info;
  if (!path || elf_info_read(path, &info) != NULL) {
    free(path);
    return NULL;
  }
  const bool wants = info.is_elf && is_wanted(o, path, &info);
  char *library = wants ? find_library() : NULL;
  const char *before = getenv("LD_PRELOAD");
  if (wants && !library)
    complain(o,
             "note: %s is not built with MProf, so it records nothing; %s, "
             "which would be loaded into it, is not installed",
             path, LIBRARY);
  else if (library && strpbrk(library, ": "))
    complain(o,
             "note: %s is not built with MProf, so it records nothing; the "
             "path %s contains a colon or a space, so it cannot be loaded",
             path, library);
  else if (library)
    value = before && *before ? text_of("%s:%s", library, before)
                              : text_of("%s", library);
  free(library);
  elf_info_free(&info);
  free(path);
  return value;
}
