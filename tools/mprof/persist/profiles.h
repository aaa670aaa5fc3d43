// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes profiles of the counts in the file of the option persist.

#ifndef MPROF_TOOL_PERSIST_PROFILES_H
#define MPROF_TOOL_PERSIST_PROFILES_H

#include "model/profile.h"
#include "persist/file.h"

// A profile of the file. name: "heap", "heapx", "peak", "mmap", "cpu", "block",
// "mutex", "wall", "threadcreate", or the name of a profile that the program
// has defined.
struct recovered {
  char name[64];
  struct profile *profile;
};

struct persist {
  struct recovered *profiles;
  size_t count, capacity;
};

// Makes the profiles. Sets file->is_damaged if some data could not be read.
void persist_profiles(struct persist_file *file, struct persist *out);
void persist_free(struct persist *p);

#endif
