// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "clang.h"

#include "common/memory.h"
#include "places.h"

#include <err.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The versions of clang for which a plugin can be built.
static const int supported[] = {22, 21, 20, 19, 18, 17, 16, 0};
// The versions that have a plugin, the newest first. The list ends with 0.
static int with_plugin[sizeof supported / sizeof *supported];

// Returns the version that a path such as /usr/lib/llvm-19/bin/clang or
// /usr/bin/clang-19 names, or 0.
static int version_in(const char *path) {
  for (const int *v = supported; *v != 0; v++)
    if (fnmatch(text_of("*/@(llvm-%d/bin/clang?(++)|clang?(++)-%d)", *v, *v),
                path, FNM_EXTMATCH) == 0)
      return *v;
  return 0;
}

static bool has_version(const int *versions, int version) {
  while (*versions != 0 && *versions != version)
    versions++;
  return *versions != 0;
}

// Returns the versions in with_plugin, as "22, 19 or 16".
static char *plugins_text(void) {
  char *text = text_of("%d", with_plugin[0]);
  for (const int *v = with_plugin + 1; *v != 0; v++)
    text = text_of("%s%s%d", text, v[1] != 0 ? ", " : " or ", *v);
  return text;
}

static bool is_program(const char *path) {
  struct stat status;
  return access(path, X_OK) == 0 && stat(path, &status) == 0 &&
         S_ISREG(status.st_mode);
}

// Returns the path of a program as a shell finds it, or NULL.
static char *find_program(const char *name) {
  if (strchr(name, '/') != NULL)
    return is_program(name) ? text_of("%s", name) : NULL;
  const char *path = getenv("PATH");
  while (path != NULL) {
    const int length = (int)strcspn(path, ":");
    char *file =
        text_of("%.*s%s%s", length, path, length != 0 ? "/" : "", name);
    if (is_program(file))
      return file;
    path = path[length] != '\0' ? path + length + 1 : NULL;
  }
  return NULL;
}

struct clang clang_find(const char *plugin_dir, bool is_cxx) {
  const char *name = getenv("MPROF_CLANG");
  const char *plus = is_cxx ? "++" : "";
  int count = 0;
  for (const int *v = supported; *v != 0; v++)
    if (access(text_of("%s/llvm-%d/libMProf.so", plugin_dir, *v), F_OK) == 0)
      with_plugin[count++] = *v;
  if (count == 0) // libMProf.so says what is missing
    with_plugin[0] = LLVM_VERSION;

  if (name != NULL && *name != '\0') {
    char *path = find_program(name);
    if (path == NULL)
      errx(1, "error: cannot find %s: install it or change MPROF_CLANG", name);
    return (struct clang){.name = name, .path = path, .needs_mode = is_cxx};
  }
  for (const int *v = with_plugin; *v != 0; v++) {
    char *path = text_of(LLVM_BIN "/clang%s", plus);
    if (*v != LLVM_VERSION || !is_program(path))
      path = find_program(text_of("clang%s-%d", plus, *v));
    if (path == NULL)
      path = find_program(text_of("/usr/lib/llvm-%d/bin/clang%s", *v, plus));
    if (path != NULL)
      return (struct clang){.name = path, .path = path, .version = *v};
  }
  errx(1,
       "error: cannot find clang%s %s in PATH: install clang-19 or set "
       "MPROF_CLANG",
       plus, plugins_text());
}

static pid_t start(const struct clang *clang, char **arguments, int output) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (output >= 0) {
      dup2(output, STDOUT_FILENO);
      // MProf does not profile the process, even if it profiles this one.
      setenv("MPROF_HELPER", "1", 1);
    }
    execv(clang->path, arguments);
  }
  if (pid <= 0)
    err(1, "error: cannot run %s", clang->name);
  return pid;
}

static int finish(pid_t pid) {
  int status;
  if (waitpid(pid, &status, 0) < 0)
    err(1, "error");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int clang_run(const struct clang *clang, char **arguments) {
  return finish(start(clang, arguments, -1));
}

// Returns what clang prints about its version.
static char *ask_version(const struct clang *clang) {
  char *arguments[] = {clang->path, "--version", NULL}, *answer = NULL;
  size_t size = 0;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    err(1, "error");
  const pid_t pid = start(clang, arguments, ends[1]);
  close(ends[1]);
  FILE *in = fdopen(ends[0], "r");
  const bool is_read = in != NULL && getdelim(&answer, &size, '\0', in) > 0;
  if (finish(pid) != 0 || !is_read)
    errx(1, "error: cannot run %s", clang->name);
  fclose(in);
  return answer;
}

void clang_check(struct clang *clang) {
  const char *real = realpath(clang->path, NULL);
  if (clang->version == 0 && real != NULL)
    clang->version = version_in(real);
  if (has_version(with_plugin, clang->version))
    return;
  const char *text = ask_version(clang), *hint = "";
  for (const int *v = supported; *v != 0; v++)
    if (strstr(text, text_of("clang version %d.", *v)) != NULL) {
      clang->version = *v;
      hint = text_of("; to add clang %d, build MProf with "
                     "-DMPROF_LLVM_VERSIONS=%d",
                     *v, *v);
    }
  if (!has_version(with_plugin, clang->version))
    errx(1, "error: -fmprof needs clang %s, but %s is: %.*s%s", plugins_text(),
         clang->name, (int)strcspn(text, "\n"), text, hint);
}
