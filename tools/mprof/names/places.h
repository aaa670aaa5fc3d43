// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The places where files with code and with debug information are searched.

#ifndef MPROF_TOOL_PLACES_H
#define MPROF_TOOL_PLACES_H

#include "view/view.h"

struct archive;

struct places {
  const char *sysroot;          // the directory of the machine's files, or NULL
  struct text_list debug_dirs;  // have .build-id/, or the files themselves
  struct text_list binaries;    // programs and libraries for their build ids
  const struct archive *bundle; // an archive with files, or NULL
  bool asks_servers;            // those of debuginfod
};

// A file that was found.
struct place {
  char *path; // to show, and to find other files beside it
  int fd;
};

// Finds the file with this build id (hexadecimal digits; "": the file has none)
// that was loaded from path. Returns NULL, or why there is none: a line for
// people, which the caller frees. The line is "" if the file never had names:
// code that the program itself keeps in a file, as Lisp does.
char *places_find(const struct places *p, const char *path,
                  const char *build_id, struct place *found);

// Opens a regular file. Returns a descriptor or -1.
int places_open(const char *path);
// Returns the directories of debug files for dwfl_standard_find_debuginfo.
char *places_debug_path(const struct places *p);
// Returns the build id as hexadecimal digits.
char *hex_of(const void *bytes, size_t length);

#endif
