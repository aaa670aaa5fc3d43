// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds mprof and llvm-symbolizer; see symbolizer_path.h.

#include "symbolize/symbolizer_path.h"

#include "file/path.h"
#include "options/flags.h"
#include "sys/message.h"
#include "sys/os_file.h"
#include "sys/os_linux.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

enum { MESSAGE_SIZE = MPROF_PATH_MAX + 256 };

// MPROF_SYMBOLIZER_PLACES: directories in which mprof may be. CMake
//   defines it as the directory of the build tree.
#ifndef MPROF_SYMBOLIZER_PLACES
#define MPROF_SYMBOLIZER_PLACES ""
#endif

// The places begin after PLACES_MARK. cmake --install finds the mark in the
// installed libraries, and replaces the places and some of the colons by the
// directory of the installation, which has the same length then
// (cmake/MProfInstall.cmake).
#define PLACES_MARK "mprof-places="
#define COLONS_64                                                              \
  "::::::::::::::::::::::::::::::::::::::::::::::::::::::::::::::::"
#define COLONS_256 COLONS_64 COLONS_64 COLONS_64 COLONS_64
// Volatile, because the compiler must not use the content.
static const volatile char places[] =
    PLACES_MARK MPROF_SYMBOLIZER_PLACES COLONS_256 COLONS_256 COLONS_256;

static struct {
  char path[MPROF_PATH_MAX]; // of llvm-symbolizer
  char own[MPROF_PATH_MAX];  // of mprof
  char cache[MPROF_PATH_MAX];
  bool has_reported; // the reason for missing names was reported
  char message[MESSAGE_SIZE];
} state; // guarded by writer_lock

static bool is_symbolizer(const char *path) {
  static const char name[] = "llvm-symbolizer";
  const char *slash = strrchr(path, '/');
  const char *base = slash == NULL ? path : slash + 1;
  return strncmp(base, name, sizeof(name) - 1) == 0 &&
         mprof_os_is_executable(path);
}

// Appends the name of a program to the directory, and stores the path in
// `path`, which has MPROF_PATH_MAX bytes. Returns false if the path is too
// long.
static bool join(char *path, const char *dir, size_t len, const char *name) {
  struct mprof_text t = {.buf = path, .cap = MPROF_PATH_MAX};
  mprof_text_mem(&t, dir, len);
  mprof_text_str(&t, "/");
  mprof_text_str(&t, name);
  return t.len < MPROF_PATH_MAX - 1;
}

// Searches a colon-separated list of directories for a program with the given
// name that is_right accepts. Stores its path in `path`. Skips relative
// directories, because they depend on the current directory, into which another
// user may have put a program.
static bool search_for(char *path, const char *directories, const char *name,
                       bool (*is_right)(const char *path)) {
  for (const char *p = directories; p != NULL && *p != '\0';) {
    size_t len = strcspn(p, ":");
    if (*p == '/' && join(path, p, len, name) && is_right(path))
      return true;
    p += len + (p[len] == ':');
  }
  return false;
}

static bool search(const char *directories, const char *name) {
  return search_for(state.path, directories, name, is_symbolizer);
}

static bool find_symbolizer(void) {
  static const char usual[] = "/usr/bin:/usr/local/bin";
  const char *path = mprof_flags_environment("PATH");
  if (path == NULL)
    path = usual;
  return search(path, "llvm-symbolizer") ||
         search(path, "llvm-symbolizer-19") ||
         search("/usr/lib/llvm-19/bin", "llvm-symbolizer");
}

void mprof_symbolizer_missing(const char *what, const char *name,
                              const char *rest) {
  if (state.has_reported)
    return;
  state.has_reported = true;
  struct mprof_text t = MPROF_TEXT(state.message);
  mprof_text_str(&t, what);
  mprof_text_str(&t, name);
  mprof_text_str(&t, rest);
  mprof_text_str(&t, "; frames are shown without names; mprof symbolize adds "
                     "them to a profile");
  mprof_message_always(t.buf);
}

bool mprof_symbolizer_find(const char **path) {
  *path = state.path;
  const char *flag = mprof_flags.external_symbolizer_path;
  // A privileged (AT_SECURE) program must not run another program, because the
  // environment comes from an unprivileged user.
  if (getauxval(AT_SECURE) != 0)
    return false;
  if (flag[0] == '\0') {
    if (find_symbolizer())
      return true;
    mprof_symbolizer_missing(
        mprof_symbolizer_find_own(path)
            ? "mprof cannot read a file of the program, and llvm-symbolizer "
              "was not found"
            : "found neither mprof nor llvm-symbolizer: add the directory of "
              "mprof to PATH or set the option external_symbolizer_path",
        "", "");
    return false;
  }
  if (is_symbolizer(flag)) {
    strcpy(state.path, flag);
    return true;
  }
  mprof_symbolizer_missing(
      "external_symbolizer_path '", flag,
      "' is not an executable file whose name begins with llvm-symbolizer");
  return false;
}

// Returns whether the path is that of an executable ELF file. Python's package
// memory_profiler has a script with the name mprof.
static bool is_program(const char *path) {
  static const char magic[4] = "\177ELF";
  char begin[sizeof(magic)] = "";
  const long fd = mprof_os_is_executable(path)
                      ? mprof_sys_open(path, O_RDONLY | O_CLOEXEC, 0)
                      : -1;
  if (fd < 0)
    return false;
  mprof_sys_read((int)fd, begin, sizeof(begin));
  mprof_sys_close((int)fd);
  return memcmp(begin, magic, sizeof(magic)) == 0;
}

bool mprof_symbolizer_find_own(const char **path) {
  static const char name[] = "mprof";
  *path = state.own;
  // A server for debug information may have better names than the files.
  // llvm-symbolizer asks it.
  const char *server = mprof_flags_environment("DEBUGINFOD_URLS");
  if (getauxval(AT_SECURE) != 0 ||
      mprof_flags.external_symbolizer_path[0] != '\0' ||
      (server != NULL && server[0] != '\0'))
    return false;
  // The program may run on a machine on which other users can create files at
  // the place that was recorded.
  return search_for(state.own,
                    (const char *)(uintptr_t)&places[sizeof(PLACES_MARK) - 1],
                    name, mprof_os_is_trusted) ||
         search_for(state.own, mprof_flags_environment("PATH"), name,
                    is_program);
}

const char *mprof_symbolizer_cache(void) {
  static const char *const names[] = {"XDG_CACHE_HOME", "HOME"};
  for (int i = 0; i < 2 && mprof_flags.symbolizer_cache; i++) {
    const char *dir = mprof_flags_environment(names[i]);
    struct mprof_text t = MPROF_TEXT(state.cache);
    if (dir == NULL || dir[0] != '/')
      continue;
    mprof_text_str(&t, dir);
    mprof_text_str(&t, i == 1 ? "/.cache" : "");
    return t.len < MPROF_PATH_MAX - 1 ? state.cache : NULL;
  }
  return NULL;
}

void mprof_symbolizer_forget(void) { state.has_reported = false; }
