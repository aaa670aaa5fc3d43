// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text functions for the start and the end of every program. They are loops,
// and do not call libc. The kernel maps 64 KiB of libc around each function of
// libc that the program calls for the first time, and the first call of each
// function takes a look-up.

#ifndef MPROF_RT_SYS_START_TEXT_H
#define MPROF_RT_SYS_START_TEXT_H

#include <stdbool.h>
#include <stddef.h>

// Returns the part of s that follows prefix. Returns NULL if s does not begin
// with prefix.
static inline const char *mprof_text_after(const char *s, const char *prefix) {
  while (*prefix != '\0' && *s == *prefix) {
    s++;
    prefix++;
  }
  return *prefix == '\0' ? s : NULL;
}

static inline bool mprof_text_equals(const char *a, const char *b) {
  const char *rest = mprof_text_after(a, b);
  return rest != NULL && *rest == '\0';
}

// Returns the part of path that follows the last '/'. Returns path if it has no
// '/'.
static inline const char *mprof_text_base_name(const char *path) {
  const char *name = path;
  for (const char *s = path; *s != '\0'; s++)
    if (*s == '/')
      name = s + 1;
  return name;
}

// Copies s with its terminating 0 to `to`. A text of more than size - 1 bytes
// is truncated. size is not 0. Returns the number of copied bytes without the
// 0.
static inline size_t mprof_text_copy(char *to, size_t size, const char *s) {
  size_t len = 0;
  for (; s[len] != '\0' && len < size - 1; len++)
    to[len] = s[len];
  to[len] = '\0';
  return len;
}

#endif // MPROF_RT_SYS_START_TEXT_H
