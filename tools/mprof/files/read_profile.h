// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a profile in pprof's format profile.proto, with or without gzip.

#ifndef MPROF_TOOL_READ_PROFILE_H
#define MPROF_TOOL_READ_PROFILE_H

#include "files/bytes.h"
#include "model/profile.h"

// What the reader tells about a file. format has arguments like printf's.
struct read_report {
  // Called for each violation of the format. Reading goes on.
  void (*violation)(void *arg, const char *text);
  void *arg;
};

// Adds the profile in `bytes` (decompressed) to p. Returns NULL, or a message
// of one line without the file's name if the file cannot be used.
//
// If report is NULL, the first violation of the format makes the file unusable.
// A file that ends too early is no violation: its readable part is added, and
// p->is_truncated is set.
const char *read_profile(struct profile *p, const struct bytes *bytes,
                         const struct read_report *report);

// Adds the profile in the file at path ("-": standard input) to p. Returns NULL
// or a message.
const char *read_profile_file(struct profile *p, const char *path);

#endif
