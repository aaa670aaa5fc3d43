// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/explain_unnamed.h"

#include "names/elf_info.h"
#include "terminal/style.h"

#include <stdlib.h>
#include <string.h>

// Smallest part of the total, in percent, that a row must have with its
// callees. Most programs have some small values in libraries without names.
enum { NOTICEABLE = 5 };

// Returns the path of the file that the row "[FILE]" stands for. Returns NULL
// if the row stands for none, such as [truncated].
static const char *path_of(const struct profile *p, const char *row) {
  for (size_t i = 0; i < p->mapping_count; i++) {
    const char *path = p->strings[p->mappings[i].file];
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const size_t length = strlen(base);
    if (length && strncmp(row + 1, base, length) == 0 &&
        strcmp(row + 1 + length, "]") == 0)
      return path;
  }
  return NULL;
}

void explain_unnamed(const struct view *v, const struct function_table *rows,
                     size_t count, FILE *out) {
  static bool is_explained;
  for (size_t i = 0; i < count && !is_explained; i++) {
    const struct function_row *r = &rows->rows[i];
    const char *name = v->profile->strings[v->frames[r->shown.frame].name];
    const char *path = *name == '[' ? path_of(v->profile, name) : NULL;
    if (!path || llabs(r->cum) < v->total / (100 / NOTICEABLE))
      continue;
    style_put(out, name);
    if (elf_is_stripped(path))
      fputs(" has no symbols: to see its functions, install its debug symbols "
            "(often a package NAME-dbgsym), or use mprof top --debuginfod; "
            "mprof traces tells them apart by their addresses\n",
            out);
    else
      fputs(" is a file without names for its functions; mprof doctor PROFILE "
            "says what is missing\n",
            out);
    is_explained = true;
  }
}
