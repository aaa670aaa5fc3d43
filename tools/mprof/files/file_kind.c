// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/file_kind.h"

#include <string.h>

#define LEGACY                                                                 \
  "a profile in the legacy format; write it with format=0, or with debug=0 "   \
  "if the program is written in Go"

// The data of each kind begin with `begin` and contain `part` in their first
// line.
static const struct {
  const char *begin, *part, *what;
} kinds[] = {
    {"go 1.", " trace", "an execution trace; mprof trace top shows it"},
    {"\177ELF", "", "a program or library; mprof run runs a program"},
    {"MProf ", " stuck threads",
     "a report of stuck threads; mprof stuck shows it"},
    {"MProf ", " report",
     "a report for people; the profile is the file beside it that ends in "
     ".pb.gz"},
    {"MProf persist ", "",
     "the counts of a process that was killed; mprof recover makes profiles"},
    {"# MProf allocation log", "", "an allocation log; mprof log shows it"},
    {"<!DOCTYPE html", "", "an HTML page; a browser shows it"},
    {"heap profile: ", "", LEGACY},
    {"--- contention", "", LEGACY},
    {"--- mutex", "", LEGACY},
    {"threadcreate profile: ", "", LEGACY},
    {"goroutine profile: ", "", LEGACY},
    {"#!", "", "a script; give the file that it runs or writes"},
};

static bool contains(const char *line, size_t length, const char *part) {
  const size_t n = strlen(part);
  for (size_t i = 0; i + n <= length; i++)
    if (memcmp(line + i, part, n) == 0)
      return true;
  return false;
}

const char *file_kind(const struct bytes *bytes) {
  const char *at = (const char *)bytes->at;
  if (bytes->length == 0)
    return "empty";
  size_t line = 0;
  while (line < bytes->length && line < 200 && at[line] != '\n')
    line++;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const size_t n = strlen(kinds[i].begin);
    if (line >= n && memcmp(at, kinds[i].begin, n) == 0 &&
        contains(at, line, kinds[i].part))
      return kinds[i].what;
  }
  return NULL;
}
