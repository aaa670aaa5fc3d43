// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/shown_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t view_shown(const struct view *v, const struct view_stack *s,
                    bool keeps_std, struct shown_frame *frames) {
  const struct stack_frame *all = &v->stack_frames[s->first];
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->count && !keeps_std; i++)
    if (!v->frames[all[i].frame].is_std) {
      const bool calls_std = i > 0 && v->frames[all[i - 1].frame].is_std;
      frames[count++] = (struct shown_frame){
          all[i].frame, calls_std ? all[i - 1].frame : NO_FRAME,
          v->places[all[i].place]};
    }
  if (count == 0)
    for (; count < s->count; count++)
      frames[count] = (struct shown_frame){all[count].frame, NO_FRAME,
                                           v->places[all[count].place]};
  return count;
}

bool shown_are_equal(const struct shown_frame *a, const struct shown_frame *b,
                     uint32_t count, bool has_via) {
  for (uint32_t i = 0; i < count; i++)
    if (a[i].frame != b[i].frame || (has_via && a[i].via != b[i].via))
      return false;
  return true;
}

uint32_t shown_hash(const struct shown_frame *frames, uint32_t count,
                    bool has_via) {
  uint32_t hash = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t key[] = {frames[i].frame, has_via ? frames[i].via : 0};
    hash = intern_hash(hash, key, sizeof key);
  }
  return hash;
}

uint32_t view_depth(const struct view *v) {
  uint32_t depth = 0;
  for (size_t i = 0; i < v->stack_count; i++)
    if (v->stacks[i].count > depth)
      depth = v->stacks[i].count;
  return depth;
}

// Returns the file without its directories.
static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

const char *frame_via(const struct view *v, const struct shown_frame *f) {
  if (f->via == NO_FRAME)
    return NULL;
  const struct frame *via = &v->frames[f->via];
  return v->profile->strings[v->has_full_names ? via->name : via->plain];
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
             frame_via(v, f));
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
    append_name(&t, &length, frame_via(v, f));
  }
  return t;
}
