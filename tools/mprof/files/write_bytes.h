// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compresses bytes, and writes whole files.

#ifndef MPROF_TOOL_WRITE_BYTES_H
#define MPROF_TOOL_WRITE_BYTES_H

#include "files/bytes.h"

#include <sys/types.h>

// Returns the bytes as a gzip file. Equal bytes give equal files. The caller
// frees the member `at`.
struct bytes bytes_zip(const struct bytes *bytes);

// Writes the file at path, or standard output for "-". Replaces an existing
// file only when the new file is complete. Returns NULL or a message without
// the path.
const char *bytes_write(const char *path, const struct bytes *bytes);

// A file that is being written.
struct new_file {
  int fd;
  // The file appears at this path at its end. NULL: the descriptor is that of
  // the file itself, which is a pipe or a device.
  char *path;
  char *temporary;
  mode_t mode;
};

// Begins a file at path. A caller may write to file->fd itself. These functions
// return NULL or a message without the path.
const char *new_file_begin(struct new_file *file, const char *path);
const char *new_file_put(struct new_file *file, const void *bytes,
                         size_t length);
// Replaces the file at the path, unless error is not NULL. Returns the first
// error.
const char *new_file_end(struct new_file *file, const char *error);

#endif
