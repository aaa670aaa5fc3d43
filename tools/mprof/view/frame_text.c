// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/frame_text.h"

#include "view/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Returns the file without its directories.
static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

struct frame_text frame_text(const struct view *v, uint32_t frame) {
  const struct frame *f = &v->frames[frame];
  char *const *strings = (char *const *)v->profile->strings;
  struct frame_text t;
  const string_id file = f->example_file;
  // With GRAIN_FILES, the name is the file.
  if (!file || file == f->name)
    snprintf(t.text, sizeof t.text, "%s", strings[f->name]);
  else if (f->example_line > 0)
    snprintf(t.text, sizeof t.text, "%.700s  %.200s:%" PRId64, strings[f->name],
             base_of(strings[file]), f->example_line);
  else
    snprintf(t.text, sizeof t.text, "%.700s  %.200s", strings[f->name],
             base_of(strings[file]));
  return t;
}

struct frame_text frame_text_via(const struct view *v, uint32_t frame,
                                 uint32_t via) {
  struct frame_text t = frame_text(v, frame);
  if (via == NO_FRAME)
    return t;
  const size_t length = strlen(t.text);
  snprintf(t.text + length, sizeof t.text - length, "  via %s",
           v->profile->strings[v->frames[via].name]);
  return t;
}
