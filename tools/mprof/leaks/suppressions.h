// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suppressions in the format of LeakSanitizer. A line "leak:PATTERN" suppresses
// leaks with a stack of which a function, file or library matches PATTERN.
// Empty lines and lines that begin with '#' are comments.
//
// A pattern matches a part of a text. "*" stands for any characters, "^" for
// the begin and "$" for the end. (sanitizer_common: TemplateMatch)

#ifndef MPROF_TOOL_SUPPRESSIONS_H
#define MPROF_TOOL_SUPPRESSIONS_H

#include "model/profile.h"

struct suppression {
  char *pattern;
  // What the pattern has suppressed.
  size_t stacks;
  double bytes, blocks;
};

struct suppressions {
  struct suppression *items;
  size_t count, capacity;
  uint32_t *found; // of each string of the profile; see suppressions.c
  size_t found_capacity;
};

// Reads the file at path. Returns false and writes a message of one line if it
// cannot be read or a line is wrong.
bool suppressions_read(struct suppressions *s, const char *path, char *error,
                       size_t size);
// The same for the text of a file.
bool suppressions_parse(struct suppressions *s, const char *text, size_t length,
                        char *error, size_t size);

// Returns whether the pattern matches the text. No text is matched if it is
// empty.
bool suppression_matches(const char *pattern, const char *text);

// Returns the first suppression that matches the innermost frame that any
// matches, or NULL.
struct suppression *suppressions_find(struct suppressions *s,
                                      const struct profile *p,
                                      const struct sample *sample);
// Returns the first suppression that matches the string, or NULL.
struct suppression *suppressions_find_text(struct suppressions *s,
                                           const struct profile *p,
                                           string_id text);

#endif
