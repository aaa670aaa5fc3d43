// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/frame_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Returns the file without its directories.
static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

struct frame_text frame_text(const struct view *v,
                             const struct shown_frame *f) {
  const char **strings = v->profile->strings;
  const string_id name = v->frames[f->frame].name, file = f->place.file;
  struct frame_text t;
  int n;
  // With GRAIN_FILES, the name is the file.
  if (!file || file == name)
    n = snprintf(t.text, sizeof t.text, "%s", strings[name]);
  else if (f->place.line > 0)
    n = snprintf(t.text, sizeof t.text, "%.700s  %.200s:%" PRId64,
                 strings[name], base_of(strings[file]), f->place.line);
  else
    n = snprintf(t.text, sizeof t.text, "%.700s  %.200s", strings[name],
                 base_of(strings[file]));
  if (f->via != NO_FRAME && n >= 0 && (size_t)n < sizeof t.text)
    snprintf(t.text + n, sizeof t.text - (size_t)n, "  via %s",
             strings[v->frames[f->via].name]);
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

struct frame_text frame_parts(const struct view *v,
                              const struct shown_frame *f) {
  const char **strings = v->profile->strings;
  const string_id name = v->frames[f->frame].name, file = f->place.file;
  struct frame_text t;
  size_t length = 0;
  append_name(&t, &length, strings[name]);
  if (file && file != name) {
    char line[24] = "";
    if (f->place.line > 0)
      snprintf(line, sizeof line, ":%" PRId64, f->place.line);
    append(&t, &length, "\n");
    append_name(&t, &length, base_of(strings[file]));
    append(&t, &length, line);
  }
  if (f->via != NO_FRAME) {
    append(&t, &length, "\nvia ");
    append_name(&t, &length, strings[v->frames[f->via].name]);
  }
  return t;
}
