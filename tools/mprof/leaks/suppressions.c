// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "leaks/suppressions.h"

#include "common/memory.h"
#include "files/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Each pattern may have to be compared with each name of a profile.
enum { MAX_SUPPRESSIONS = 10000 };
static const size_t MAX_LENGTH = (size_t)1 << 20;

// Values of suppressions.found. Other values: index + FIRST_FOUND.
enum { UNKNOWN, NOT_FOUND, FIRST_FOUND };

// --- reading ---

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool parse_line(struct suppressions *s, const char *line,
                       const char *end, const char **reason) {
  static const char type[] = "leak:";
  while (line < end && is_space(*line))
    line++;
  while (end > line && is_space(end[-1]))
    end--;
  if (line == end || *line == '#')
    return true;
  const size_t length = (size_t)(end - line), skip = sizeof type - 1;
  *reason = length <= skip || strncmp(line, type, skip) != 0
                ? "a suppression must have the form leak:PATTERN"
            : memchr(line, '\0', length)   ? "the line has a 0 byte"
            : s->count == MAX_SUPPRESSIONS ? "the file has more than 10,000 "
                                             "suppressions"
                                           : NULL;
  if (*reason)
    return false;
  struct suppression *item = APPEND(s->items, s->count, s->capacity);
  *item = (struct suppression){.pattern = zeroed(length - skip + 1, 1)};
  memcpy(item->pattern, line + skip, length - skip);
  return true;
}

bool suppressions_parse(struct suppressions *s, const char *text, size_t length,
                        char *error, size_t size) {
  const char *end = text + length;
  for (size_t number = 1; text < end; number++) {
    const char *line_end = memchr(text, '\n', (size_t)(end - text));
    if (!line_end)
      line_end = end;
    const char *reason;
    if (!parse_line(s, text, line_end, &reason)) {
      snprintf(error, size, "line %zu: %s", number, reason);
      return false;
    }
    text = line_end < end ? line_end + 1 : end;
  }
  return true;
}

bool suppressions_read(struct suppressions *s, const char *path, char *error,
                       size_t size) {
  struct bytes bytes;
  char reason[128];
  const char *message = bytes_read(path, &bytes);
  if (!message && bytes.length > MAX_LENGTH)
    message = "the file has more than 1 MiB";
  if (!message && !suppressions_parse(s, (const char *)bytes.at, bytes.length,
                                      reason, sizeof reason))
    message = reason;
  if (message)
    snprintf(error, size, "%.200s: %s", path, message);
  free(bytes.at);
  return message == NULL;
}

// --- matching ---

// Each part of the pattern between '*' is taken at its first place in the rest
// of the text, as TemplateMatch does. A '$' ends the pattern.
bool suppression_matches(const char *pattern, const char *text) {
  if (!*text)
    return false;
  const bool is_anchored = *pattern == '^';
  pattern += is_anchored;
  bool must_begin = is_anchored, after_star = false;
  while (*pattern) {
    if (*pattern == '*') {
      pattern++;
      must_begin = false;
      after_star = true;
      continue;
    }
    if (*pattern == '$')
      return !*text || after_star;
    const size_t length = strcspn(pattern, "*$");
    const char *at = memmem(text, strlen(text), pattern, length);
    if (!at || (must_begin && at != text))
      return false;
    text = at + length;
    pattern += length;
    must_begin = after_star = false;
  }
  return true;
}

// Returns FIRST_FOUND + the index of the suppression that matches, or
// NOT_FOUND.
static uint32_t find(struct suppressions *s, const struct profile *p,
                     string_id id) {
  const size_t before = s->found_capacity;
  s->found =
      grow(s->found, &s->found_capacity, p->string_count, sizeof *s->found);
  for (size_t i = before; i < s->found_capacity; i++)
    s->found[i] = UNKNOWN;
  for (uint32_t i = 0; s->found[id] == UNKNOWN && i < s->count; i++)
    if (suppression_matches(s->items[i].pattern, p->strings[id]))
      s->found[id] = FIRST_FOUND + i;
  if (s->found[id] == UNKNOWN)
    s->found[id] = NOT_FOUND;
  return s->found[id];
}

struct suppression *suppressions_find_text(struct suppressions *s,
                                           const struct profile *p,
                                           string_id text) {
  const uint32_t found = find(s, p, text);
  return found == NOT_FOUND ? NULL : &s->items[found - FIRST_FOUND];
}

// Returns the first suppression that matches the library, a function or a file
// of the location, in LeakSanitizer's order, or NULL.
static struct suppression *find_location(struct suppressions *s,
                                         const struct profile *p,
                                         const struct location *l) {
  uint32_t found = l->mapping == NO_MAPPING
                       ? NOT_FOUND
                       : find(s, p, p->mappings[l->mapping].file);
  for (uint32_t i = 0; i < l->line_count && found == NOT_FOUND; i++) {
    const struct function *f =
        &p->functions[p->lines[l->first_line + i].function];
    found = find(s, p, f->name);
    if (found == NOT_FOUND)
      found = find(s, p, f->file);
  }
  return found == NOT_FOUND ? NULL : &s->items[found - FIRST_FOUND];
}

struct suppression *suppressions_find(struct suppressions *s,
                                      const struct profile *p,
                                      const struct sample *sample) {
  const uint32_t *locations = &p->stack_locations[sample->first_location];
  struct suppression *found = NULL;
  for (uint32_t i = 0; i < sample->location_count && !found; i++)
    found = find_location(s, p, &p->locations[locations[i]]);
  return found;
}
