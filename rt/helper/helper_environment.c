// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removes MProf from the environment of other programs; see
// helper_environment.h. The tools in tools/ use this file, too.

#include "helper/helper_environment.h"

#include <string.h>

// Returns whether the path of len bytes is one of MProf's libraries:
// libmprof_preload.so, or libmprof_rt.so with or without a version.
static bool is_own_library(const char *path, size_t len) {
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

bool mprof_preload_list_clean(char *list) {
  char *to = list;
  for (const char *from = list; *from != '\0';) {
    const size_t len = strcspn(from, ": ");
    const size_t with_end = from[len] != '\0' ? len + 1 : len;
    if (!is_own_library(from, len)) {
      memmove(to, from, with_end);
      to += with_end;
    }
    from += with_end;
  }
  *to = '\0';
  return list[strspn(list, ": ")] != '\0';
}
