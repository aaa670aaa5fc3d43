// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a profile in pprof's format profile.proto, compressed by gzip.

#ifndef MPROF_TOOL_WRITE_PROFILE_H
#define MPROF_TOOL_WRITE_PROFILE_H

#include "files/bytes.h"
#include "model/profile.h"

// Returns the bytes of the file. Equal profiles have equal bytes. The caller
// frees the member `at`. Strings and functions that nothing refers to are left
// out.
struct bytes write_profile(const struct profile *p);

// Writes the profile to the file at path ("-": standard output). Returns NULL
// or a message without the path.
const char *write_profile_file(const struct profile *p, const char *path);

#endif
