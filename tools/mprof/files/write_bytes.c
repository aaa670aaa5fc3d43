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

static const char *write_all(int fd, const struct bytes *bytes) {
  for (size_t done = 0; done < bytes->length;) {
    const ssize_t n = write(fd, bytes->at + done, bytes->length - done);
    if (n < 0 && errno != EINTR)
      return strerror(errno);
    if (n > 0)
      done += (size_t)n;
  }
  return NULL;
}

// Writes to a file that cannot be replaced, such as a pipe or a device.
static const char *write_through(const char *path, const struct bytes *bytes) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return strerror(errno);
  const char *error = write_all(fd, bytes);
  if (close(fd) != 0 && !error)
    error = strerror(errno);
  return error;
}

// Writes a temporary file in the same directory, and renames it to path.
static const char *replace(const char *path, mode_t mode,
                           const struct bytes *bytes) {
  const size_t size = strlen(path) + sizeof ".XXXXXX";
  char *temporary = zeroed(size, 1);
  snprintf(temporary, size, "%s.XXXXXX", path);
  const int fd = mkostemp(temporary, O_CLOEXEC);
  const char *error = fd < 0 ? strerror(errno) : write_all(fd, bytes);
  if (fd >= 0 && !error && fchmod(fd, mode) != 0)
    error = strerror(errno);
  if (fd >= 0 && close(fd) != 0 && !error)
    error = strerror(errno);
  if (fd >= 0 && !error && rename(temporary, path) != 0)
    error = strerror(errno);
  if (fd >= 0 && error)
    unlink(temporary);
  free(temporary);
  return error;
}

const char *bytes_write(const char *path, const struct bytes *bytes) {
  struct stat s;
  if (strcmp(path, "-") == 0)
    return write_all(STDOUT_FILENO, bytes);
  if (stat(path, &s) != 0) {
    const mode_t mask = umask(0);
    umask(mask);
    return replace(path, 0666 & ~mask, bytes);
  }
  if (!S_ISREG(s.st_mode))
    return write_through(path, bytes);
  // If path is a symbolic link, this replaces the file to which it points.
  char *real = realpath(path, NULL);
  const char *error =
      real ? replace(real, s.st_mode & 07777, bytes) : strerror(errno);
  free(real);
  return error;
}
