// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a map: lines "START SIZE NAME" with hexadecimal numbers.

#include "names/jit_dump.h"

#include <stdlib.h>
#include <string.h>

// Reads a line. Returns the name, or NULL if the line is none.
static char *parse(char *line, uint64_t *start, uint64_t *size) {
  char *end, *name;
  *start = strtoull(line, &end, 16);
  if (end == line || *end != ' ')
    return NULL;
  *size = strtoull(end, &name, 16);
  if (name == end || *name != ' ')
    return NULL;
  name++;
  name[strcspn(name, "\r\n")] = '\0';
  return *name ? name : NULL;
}

bool jit_map_read(FILE *in, struct jit_wanted *w, size_t count) {
  static char line[JIT_MAX_NAME];
  bool begins = true, has_any = false, is_empty = true;
  while (fgets(line, sizeof line, in)) {
    const bool is_begin = begins;
    uint64_t start, size;
    begins = strchr(line, '\n') != NULL;
    is_empty = false;
    const char *name = is_begin ? parse(line, &start, &size) : NULL;
    if (!name)
      continue;
    has_any = true;
    for (size_t i = jit_first(w, count, start);
         i < count && w[i].address - start < size; i++)
      jit_set(&w[i], name);
  }
  return has_any || is_empty;
}
