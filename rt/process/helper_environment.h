// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment of programs that MProf starts for itself, such as mprof or a
// pager. MProf must not profile them: their profiles would be mixed with those
// of the user's program. The tools in tools/ use this header, too.

#ifndef MPROF_RT_PROCESS_HELPER_ENVIRONMENT_H
#define MPROF_RT_PROCESS_HELPER_ENVIRONMENT_H

#include "sys/base.h"

#include <string.h>

// The variable that tells the runtime not to profile this process. The runtime
// may be in a program that MProf starts even without LD_PRELOAD, because the
// program was built with MProf, or because /etc/ld.so.preload names the
// runtime.
#define MPROF_HELPER_VARIABLE "MPROF_HELPER"
#define MPROF_HELPER_MARK MPROF_HELPER_VARIABLE "=1"

// Returns whether the path of len bytes is one of MProf's libraries:
// libmprof_preload.so, or libmprof_rt.so with or without a version.
static inline bool mprof_is_own_library(const char *path, size_t len) {
  static const char *const names[] = {"libmprof_preload.so", "libmprof_rt.so"};
  size_t base = len;
  while (base > 0 && path[base - 1] != '/')
    base--;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    const size_t n = strlen(names[i]);
    if (len - base >= n && memcmp(path + base, names[i], n) == 0 &&
        (len - base == n || path[base + n] == '.'))
      return true;
  }
  return false;
}

// Removes MProf's libraries from a list of libraries as in LD_PRELOAD, whose
// separators are colons and spaces. Changes the list in place. Returns whether
// the list names other libraries. Takes no locks and no memory.
static inline bool mprof_preload_list_clean(char *list) {
  char *to = list;
  for (const char *from = list; *from != '\0';) {
    const size_t len = strcspn(from, ": ");
    const size_t with_end = from[len] != '\0' ? len + 1 : len;
    if (!mprof_is_own_library(from, len)) {
      memmove(to, from, with_end);
      to += with_end;
    }
    from += with_end;
  }
  *to = '\0';
  return list[strspn(list, ": ")] != '\0';
}

#endif // MPROF_RT_PROCESS_HELPER_ENVIRONMENT_H
