// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/shown_path.h"

#include "common/memory.h"

#include <stddef.h>
#include <string.h>

static struct {
  struct shown {
    const char *path, *shown;
  } *items;
  size_t count, capacity;
} names;

void shown_path_set(const char *path, const char *shown) {
  *APPEND(names.items, names.count, names.capacity) =
      (struct shown){path, shown};
}

const char *shown_path(const char *path) {
  for (size_t i = 0; i < names.count; i++)
    if (strcmp(names.items[i].path, path) == 0)
      return names.items[i].shown;
  return path;
}
