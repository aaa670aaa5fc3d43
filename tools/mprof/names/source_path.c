// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens the paths of source files; see source_path.h.

#include "names/source_path.h"

#include "sys/os.h"

#include <stdbool.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

static bool is_part(const char *part, size_t len, const char *name) {
  return len == strlen(name) && memcmp(part, name, len) == 0;
}

// Returns the length of the path at `out` without its last component. Returns
// len if the path has no component, or if the last component is "..".
static size_t without_last(const char *out, size_t len, size_t root) {
  size_t start = len;
  while (start > root && out[start - 1] != '/')
    start--;
  if (start == len || is_part(out + start, len - start, ".."))
    return len;
  return start > root ? start - 1 : root;
}

// Writes the short form of path to out, which must have room for the whole
// path. Returns whether the short form left out a "DIR/..".
static bool shorten(const char *path, char *out) {
  const size_t root = path[0] == '/';
  size_t len = root;
  bool has_left = false;
  if (root != 0)
    out[0] = '/';
  for (const char *p = path + root; *p != '\0';) {
    const size_t n = strcspn(p, "/");
    if (is_part(p, n, "..") &&
        (without_last(out, len, root) != len || (root != 0 && len == root))) {
      len = without_last(out, len, root);
      has_left = true;
    } else if (n > 0 && !is_part(p, n, ".")) {
      if (len > root)
        out[len++] = '/';
      memmove(out + len, p, n);
      len += n;
    }
    p += n + (p[n] == '/');
  }
  out[len] = '\0';
  return has_left;
}

void mprof_source_path(char *path) {
  char out[PATH_SIZE];
  if (strlen(path) >= sizeof(out) ||
      (strstr(path, "/.") == NULL && strstr(path, "//") == NULL &&
       strncmp(path, "./", 2) != 0))
    return;
  const bool has_left = shorten(path, out);
  if (out[0] == '\0' ||
      (has_left && mprof_os_is_file(path) && !mprof_os_is_same_file(path, out)))
    return;
  strcpy(path, out);
}
