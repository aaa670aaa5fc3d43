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

// Appends a text. A newline in it becomes "?".
static void append(struct frame_text *t, size_t *length, const char *text) {
  for (; *text && *length + 1 < sizeof t->text; text++)
    t->text[(*length)++] = *text;
  t->text[*length] = '\0';
}

static void append_name(struct frame_text *t, size_t *length,
                        const char *text) {
  const size_t start = *length;
  append(t, length, text);
  for (size_t i = start; i < *length; i++)
    if (t->text[i] == '\n')
      t->text[i] = '?';
}

struct frame_text frame_parts(const struct view *v, uint32_t frame,
                              uint32_t via) {
  const struct frame *f = &v->frames[frame];
  const char **strings = v->profile->strings;
  struct frame_text t;
  size_t length = 0;
  append_name(&t, &length, strings[f->name]);
  if (f->example_file && f->example_file != f->name) {
    char line[24] = "";
    if (f->example_line > 0)
      snprintf(line, sizeof line, ":%" PRId64, f->example_line);
    append(&t, &length, "\n");
    append_name(&t, &length, base_of(strings[f->example_file]));
    append(&t, &length, line);
  }
  if (via != NO_FRAME) {
    append(&t, &length, "\nvia ");
    append_name(&t, &length, strings[v->frames[via].name]);
  }
  return t;
}
