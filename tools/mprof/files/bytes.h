// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads whole files into memory and writes them, and decompresses and
// compresses them as gzip files.

#ifndef MPROF_TOOL_BYTES_H
#define MPROF_TOOL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif // MPROF_TOOL_BYTES_H
