// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compresses bytes, and writes whole files.

#ifndef MPROF_TOOL_WRITE_BYTES_H
#define MPROF_TOOL_WRITE_BYTES_H

#include "files/bytes.h"

// Returns the bytes as a gzip file. Equal bytes give equal files. The caller
// frees the member `at`.
struct bytes bytes_zip(const struct bytes *bytes);

// Writes the file at path, or standard output for "-". Replaces an existing
// file only when the new file is complete. Returns NULL or a message without
// the path.
const char *bytes_write(const char *path, const struct bytes *bytes);

#endif
