// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes frames of standard libraries; see std_frames.h.

#include "write/std_frames.h"

#include <string.h>

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool starts_with_any(const char *s, const char *const *prefixes) {
  for (; *prefixes != NULL; prefixes++)
    if (starts_with(s, *prefixes))
      return true;
  return false;
}

bool mprof_is_std_module(const char *file) {
  // The names end where those of other libraries differ, such as
  // libpthreadpool.so and ld-linux-demo.
  static const char *const libraries[] = {
      "libc.so",   "libpthread.so", "libstdc++.so",
      "libc++.so", "libc++abi.so",  "libgcc_s.so",
      NULL};
  static const char *const old[] = {"libc-2.", "libpthread-2.", "ld-2.", NULL};
  static const char *const loaders[] = {"ld-linux.so.", "ld-linux-", "ld-musl-",
                                        NULL};
  const char *slash = strrchr(file, '/');
  const char *name = slash == NULL ? file : slash + 1;
  if (starts_with_any(name, libraries)) {
    const char *end = strstr(name, ".so") + 3;
    return *end == '\0' || *end == '.';
  }
  return starts_with_any(name, old) ||
         (starts_with_any(name, loaders) && strstr(name, ".so.") != NULL);
}

// Returns whether file is a header of a C++ library, such as
// /usr/include/c++/12/vector or /usr/lib/llvm-19/include/c++/v1/vector.
static bool is_std_header(const char *file) {
  const char *include = strstr(file, "/include/");
  return include != NULL && strstr(include, "/c++/") != NULL;
}

// Returns the demangled function name `name` without the result type, with
// which the names of template functions begin.
//   "void std::f<int, long>(int)"  ->  "std::f<int, long>(int)"
static const char *without_result(const char *name) {
  int depth = 0; // nesting of template arguments
  const char *start = name;
  for (const char *p = name; *p != '\0' && (depth > 0 || *p != '('); p++) {
    depth += *p == '<';
    depth -= *p == '>';
    if (depth == 0 && *p == ' ' && !starts_with(start, "operator"))
      start = p + 1;
  }
  return start;
}

bool mprof_is_std_frame(const struct mprof_frame *f) {
  static const char *const names[] = {"std::", "__gnu_cxx::", "operator new",
                                      "operator delete", NULL};
  if (f->is_library && mprof_is_std_module(f->module))
    return true;
  if (f->file[0] != '\0')
    return is_std_header(f->file);
  return starts_with_any(without_result(f->function), names);
}
