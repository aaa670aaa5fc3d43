// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a whole file into memory, and decompresses it if it is a gzip file.

#ifndef MPROF_TOOL_BYTES_H
#define MPROF_TOOL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
  uint8_t *at;
  size_t length;
  bool is_truncated; // the gzip data ended early
};

// Reads the file at path, or standard input for "-". Returns NULL, or a message
// without the path. The caller frees out->at.
const char *bytes_read(const char *path, struct bytes *out);

// Replaces gzip data by the decompressed data. Leaves other data as they are.
// Returns NULL or a message. Damaged and truncated data are decompressed as far
// as possible.
const char *bytes_unzip(struct bytes *bytes);

#endif
