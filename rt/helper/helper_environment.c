// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the environment of programs that MProf starts for itself; see
// helper_environment.h. The tools in tools/ use this file, too.

#include "helper/helper_environment.h"

#include "sys/text.h"

#include <string.h>

static const char list_name[] = "LD_PRELOAD=";

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

static bool is_own_variable(const char *text) {
  return mprof_text_after(text, "MPROF_OPTIONS=") != NULL ||
         mprof_text_after(text, MPROF_HELPER_VARIABLE "=") != NULL;
}

static size_t count(char *const *list) {
  size_t n = 0;
  while (list != NULL && list[n] != NULL)
    n++;
  return n;
}

size_t mprof_helper_environment_size(char *const *from) {
  const size_t n = count(from);
  size_t size = (n + 2) * sizeof(char *); // with the mark and NULL
  for (size_t i = 0; i < n; i++)
    if (mprof_text_after(from[i], list_name) != NULL)
      size += strlen(from[i]) + 1;
  return size;
}

char **mprof_helper_environment(char *const *from, void *memory) {
  static char mark[] = MPROF_HELPER_MARK;
  const size_t n = count(from);
  char **to = memory, *text = (char *)(to + n + 2);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (is_own_variable(from[i]))
      continue;
    if (mprof_text_after(from[i], list_name) == NULL) {
      to[kept++] = from[i];
      continue;
    }
    strcpy(text, from[i]);
    if (mprof_preload_list_clean(text + sizeof(list_name) - 1)) {
      to[kept++] = text;
      text += strlen(text) + 1;
    }
  }
  to[kept++] = mark;
  to[kept] = NULL;
  return to;
}
