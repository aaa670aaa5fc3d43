// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds mprof; see symbolizer_path.h.

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
  char path[MPROF_PATH_MAX]; // of mprof
  char cache[MPROF_PATH_MAX];
  bool has_reported; // the reason for missing names was reported
  char message[MESSAGE_SIZE];
} state; // guarded by writer_lock

// Stores the path of mprof in this directory in state.path. Returns false if
// the path is too long.
static bool join(const char *dir, size_t len) {
  struct mprof_text t = MPROF_TEXT(state.path);
  mprof_text_mem(&t, dir, len);
  mprof_text_str(&t, "/mprof");
  return t.len < MPROF_PATH_MAX - 1;
}

// Searches a colon-separated list of directories for an mprof that is_right
// accepts. Stores its path in state.path. Skips relative directories, because
// they depend on the current directory, into which another user may have put a
// program.
static bool search(const char *directories,
                   bool (*is_right)(const char *path)) {
  for (const char *p = directories; p != NULL && *p != '\0';) {
    size_t len = strcspn(p, ":");
    if (*p == '/' && join(p, len) && is_right(state.path))
      return true;
    p += len + (p[len] == ':');
  }
  return false;
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

// Checks the path in the user's option.
static bool is_named(const char *path) {
  static const char name[] = "mprof";
  const char *slash = strrchr(path, '/');
  const char *base = slash == NULL ? path : slash + 1;
  return strncmp(base, name, sizeof(name) - 1) == 0 &&
         mprof_os_is_executable(path);
}

bool mprof_symbolizer_find(const char **path) {
  const char *flag = mprof_flags.external_symbolizer_path;
  *path = state.path;
  // A privileged (AT_SECURE) program must not run another program, because the
  // environment comes from an unprivileged user.
  if (getauxval(AT_SECURE) != 0)
    return false;
  if (flag[0] != '\0') {
    *path = flag;
    if (is_named(flag))
      return true;
    mprof_symbolizer_missing(
        "external_symbolizer_path '", flag,
        "' is not an executable file whose name begins with mprof");
    return false;
  }
  // The program may run on a machine on which other users can create files at
  // the place that was recorded.
  if (search((const char *)(uintptr_t)&places[sizeof(PLACES_MARK) - 1],
             mprof_os_is_trusted) ||
      search(mprof_flags_environment("PATH"), is_program))
    return true;
  mprof_symbolizer_missing("found no mprof: add the directory of mprof to PATH "
                           "or set the option external_symbolizer_path",
                           "", "");
  return false;
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
