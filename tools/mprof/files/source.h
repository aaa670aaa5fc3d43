// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source files, for commands that show source lines.

#ifndef MPROF_TOOL_SOURCE_H
#define MPROF_TOOL_SOURCE_H

#include <stddef.h>

struct source {
  char *text;   // NULL if the file cannot be read
  char **lines; // lines[0] is line 1; each ends with a 0 byte
  size_t count;
};

// Reads the source file that a profile names. If there is no such file and
// directory is not NULL, looks for the path's last components below it. Reads
// only regular files of at most 16 MiB, because the path comes from the
// profile.
struct source source_read(const char *path, const char *directory);
void source_free(struct source *s);

// Copies the text of a line, at most size - 1 characters. Replaces tabs by
// spaces and leaves out carriage returns. Returns the length of the copy.
size_t source_line(const char *text, char *line, size_t size);

#endif
