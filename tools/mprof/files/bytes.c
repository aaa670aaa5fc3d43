// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/bytes.h"

#include "common/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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
