// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of names, as helper processes send it and as files keep it: texts that
// are not empty, each with its terminating 0, and then an empty text. The
// runtime and the tools use this header.

#ifndef MPROF_RT_SYMBOLIZE_NAME_LIST_H
#define MPROF_RT_SYMBOLIZE_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Returns the size in bytes of the list at s, including the empty text at its
// end. Returns 0 if the list does not end within the `room` bytes at s.
static inline size_t mprof_name_list_size(const char *s, size_t room) {
  size_t size = 0;
  while (size < room && s[size] != '\0') {
    const size_t len = strnlen(s + size, room - size);
    size += len + 1;
  }
  return size < room ? size + 1 : 0;
}

// Returns whether the size bytes at s are exactly one list.
static inline bool mprof_is_name_list(const char *s, size_t size) {
  return size != 0 && mprof_name_list_size(s, size) == size;
}

#endif // MPROF_RT_SYMBOLIZE_NAME_LIST_H
