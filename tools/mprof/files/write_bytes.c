// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/write_bytes.h"

#include "common/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

// The largest number of bytes that zlib takes at once.
enum { PART = 1 << 30 };

struct bytes bytes_zip(const struct bytes *bytes) {
  struct bytes out = {0};
  size_t capacity = 0, left = bytes->length;
  z_stream z = {.next_in = bytes->at};
  int status = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                            Z_DEFAULT_STRATEGY);
  while (status == Z_OK) {
    if (z.avail_in == 0) {
      z.avail_in = left < PART ? (uInt)left : PART;
      left -= z.avail_in;
    }
    if (out.length == capacity)
      out.at = grow(out.at, &capacity, out.length + 65536, 1);
    const size_t room = capacity - out.length;
    z.next_out = out.at + out.length;
    z.avail_out = room < PART ? (uInt)room : PART;
    const uInt before = z.avail_out;
    status = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
    out.length += before - z.avail_out;
  }
  deflateEnd(&z);
  if (status != Z_STREAM_END) {
    fputs("mprof: out of memory\n", stderr);
    exit(2);
  }
  return out;
}

const char *new_file_put(struct new_file *file, const void *bytes,
                         size_t length) {
  for (const char *at = bytes; length;) {
    const ssize_t n = write(file->fd, at, length);
    if (n < 0 && errno != EINTR)
      return strerror(errno);
    if (n > 0) {
      at += n;
      length -= (size_t)n;
    }
  }
  return NULL;
}

// Makes a temporary file in the directory of the path, which it takes over.
static const char *begin_temporary(struct new_file *file, char *path,
                                   mode_t mode) {
  const size_t size = strlen(path) + sizeof ".XXXXXX";
  *file = (struct new_file){
      .path = path, .temporary = zeroed(size, 1), .mode = mode};
  snprintf(file->temporary, size, "%s.XXXXXX", path);
  file->fd = mkostemp(file->temporary, O_CLOEXEC);
  if (file->fd >= 0)
    return NULL;
  const char *error = strerror(errno);
  free(file->temporary);
  free(path);
  *file = (struct new_file){.fd = -1};
  return error;
}

static char *copy_of(const char *text) {
  const size_t size = strlen(text) + 1;
  return memcpy(zeroed(size, 1), text, size);
}

const char *new_file_begin(struct new_file *file, const char *path) {
  struct stat s;
  *file = (struct new_file){.fd = STDOUT_FILENO};
  if (strcmp(path, "-") == 0)
    return NULL;
  if (stat(path, &s) != 0) {
    const mode_t mask = umask(0);
    umask(mask);
    return begin_temporary(file, copy_of(path), 0666 & ~mask);
  }
  if (!S_ISREG(s.st_mode)) {
    file->fd = open(path, O_WRONLY | O_CLOEXEC);
    return file->fd < 0 ? strerror(errno) : NULL;
  }
  // If path is a symbolic link, the file to which it points is replaced.
  char *real = realpath(path, NULL);
  return real ? begin_temporary(file, real, s.st_mode & 07777)
              : strerror(errno);
}

const char *new_file_end(struct new_file *file, const char *error) {
  if (file->fd < 0)
    return error;
  if (file->path && !error && fchmod(file->fd, file->mode) != 0)
    error = strerror(errno);
  if (file->fd != STDOUT_FILENO && close(file->fd) != 0 && !error)
    error = strerror(errno);
  if (file->path && !error && rename(file->temporary, file->path) != 0)
    error = strerror(errno);
  if (file->path && error)
    unlink(file->temporary);
  free(file->path);
  free(file->temporary);
  return error;
}

const char *bytes_write(const char *path, const struct bytes *bytes) {
  struct new_file file;
  const char *error = new_file_begin(&file, path);
  return error ? error
               : new_file_end(&file,
                              new_file_put(&file, bytes->at, bytes->length));
}
