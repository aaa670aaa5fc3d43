// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/bytes.h"

#include "common/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

// A profile with a million stacks has about 100 MB.
static const size_t MAX_LENGTH = (size_t)1 << 30;
static const char too_large[] = "the file has more than 1 GiB";

// A small file must not fill the memory. gzip makes zero bytes a thousand times
// shorter, but profiles 2 to 10 times, and profiles with very many similar
// stacks at most 150 times.
enum { MAX_GROWTH = 200 };
static const size_t SMALL = (size_t)64 << 20;
static const char grows_too_much[] =
    "the data are more than 200 times larger than the file; if you trust the "
    "file, unpack it with gzip -d";

// Makes room for at least one more byte.
static void reserve(struct bytes *b, size_t *capacity) {
  if (b->length == *capacity)
    b->at = grow(b->at, capacity, b->length + 65536, 1);
}

static const char *read_all(int fd, struct bytes *out) {
  size_t capacity = 0;
  for (;;) {
    reserve(out, &capacity);
    const ssize_t n = read(fd, out->at + out->length, capacity - out->length);
    if (n == 0)
      return NULL;
    if (n < 0 && errno != EINTR)
      return strerror(errno);
    if (n > 0)
      out->length += (size_t)n;
    if (out->length > MAX_LENGTH)
      return too_large;
  }
}

const char *bytes_read(const char *path, struct bytes *out) {
  *out = (struct bytes){0};
  const bool is_stdin = strcmp(path, "-") == 0;
  const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return strerror(errno);
  const char *error = read_all(fd, out);
  if (!is_stdin)
    close(fd);
  if (error) {
    free(out->at);
    *out = (struct bytes){0};
  }
  return error;
}

// Decompresses the members of a gzip file. Returns NULL or a message.
static const char *inflate_all(z_stream *z, struct bytes *out) {
  size_t capacity = 0;
  const size_t packed = z->avail_in;
  for (;;) {
    reserve(out, &capacity);
    z->next_out = out->at + out->length;
    const size_t room = capacity - out->length;
    z->avail_out = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
    const uInt before = z->avail_out;
    const int status = inflate(z, Z_NO_FLUSH);
    out->length += before - z->avail_out;
    if (out->length > SMALL && out->length / MAX_GROWTH > packed)
      return grows_too_much;
    if (out->length > MAX_LENGTH)
      return too_large;
    if (status == Z_STREAM_END) {
      // As gzip does, ignore bytes after the last member.
      if (z->avail_in < 2 || z->next_in[0] != 0x1f || z->next_in[1] != 0x8b)
        return NULL;
      inflateReset(z);
    } else if (status != Z_OK || (z->avail_in == 0 && z->avail_out != 0)) {
      out->is_truncated = true;
      return out->length ? NULL : "damaged gzip data";
    }
  }
}

const char *bytes_unzip(struct bytes *bytes) {
  if (bytes->length < 2 || bytes->at[0] != 0x1f || bytes->at[1] != 0x8b)
    return NULL;
  struct bytes out = {0};
  z_stream z = {.next_in = bytes->at, .avail_in = (uInt)bytes->length};
  if (inflateInit2(&z, 15 + 16) != Z_OK)
    return "zlib cannot be used";
  const char *error = inflate_all(&z, &out);
  inflateEnd(&z);
  free(bytes->at);
  *bytes = out;
  if (error) {
    free(out.at);
    *bytes = (struct bytes){0};
  }
  return error;
}

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
