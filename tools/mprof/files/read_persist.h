// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the file that the option persist leaves behind if a process is killed
// (rt/sys/persist_head.h), and makes profiles of it. The file may be torn at
// any place or damaged: an address in it is used only if it lies in the file.

#ifndef MPROF_TOOL_READ_PERSIST_H
#define MPROF_TOOL_READ_PERSIST_H

#include "files/bytes.h"
#include "model/profile.h"

// A profile of the file. name: "heap", "block", "mutex", "threadcreate", or the
// name of a profile that the program has defined.
struct recovered {
  char name[64];
  struct profile *profile;
};

struct persist {
  struct recovered *profiles;
  size_t count, capacity;
  int pid;
  bool is_cut;     // the process could not write all of its data to the file
  bool has_ended;  // the process has also written its profiles itself
  bool is_damaged; // some data could not be read
};

// Returns whether the data are such a file.
bool persist_is(const struct bytes *bytes);
// Reads the file. Returns NULL or a message. Call persist_free in both cases.
const char *persist_read(const struct bytes *bytes, struct persist *out);
void persist_free(struct persist *p);

#endif
