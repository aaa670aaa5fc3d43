// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/stream.h"

#include "common/memory.h"

#include <stdlib.h>

void stream_put(struct stream *s, uint64_t number) {
  enum { MAX_VARINT = 10 };
  if (s->capacity - s->count < MAX_VARINT)
    s->bytes = grow(s->bytes, &s->capacity, s->count + MAX_VARINT, 1);
  for (; number >= 0x80; number >>= 7)
    s->bytes[s->count++] = (uint8_t)(number | 0x80);
  s->bytes[s->count++] = (uint8_t)number;
}

size_t stream_size(uint64_t number) {
  size_t size = 1;
  for (; number >= 0x80; number >>= 7)
    size++;
  return size;
}

void stream_put_signed(struct stream *s, int64_t number) {
  stream_put(s, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

uint64_t stream_get(const struct stream *s, size_t *at) {
  uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = s->bytes[(*at)++];
    number |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      return number;
  }
}

int64_t stream_get_signed(const struct stream *s, size_t *at) {
  const uint64_t number = stream_get(s, at);
  return (int64_t)(number >> 1 ^ -(number & 1));
}

// Writes the numbers as a string of JSON, with its quotes.
static void write_string(const struct stream *s, FILE *out) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  // Groups are written many at once, because a page may have millions.
  char buffer[4096];
  size_t used = 0;
  fputc('"', out);
  for (size_t i = 0; i < s->count; i += 3) {
    const size_t left = s->count - i;
    const uint32_t group = (uint32_t)s->bytes[i] << 16 |
                           (left > 1 ? (uint32_t)s->bytes[i + 1] << 8 : 0) |
                           (left > 2 ? s->bytes[i + 2] : 0);
    buffer[used++] = digits[group >> 18];
    buffer[used++] = digits[group >> 12 & 63];
    buffer[used++] = left > 1 ? digits[group >> 6 & 63] : '=';
    buffer[used++] = left > 2 ? digits[group & 63] : '=';
    if (used == sizeof buffer || left <= 3) {
      fwrite(buffer, 1, used, out);
      used = 0;
    }
  }
  fputc('"', out);
}

void stream_write(struct stream *s, const char *name, size_t count, FILE *out) {
  fprintf(out, ",\n\"%s\":{\"count\":%zu,\"data\":", name, count);
  write_string(s, out);
  fputc('}', out);
  free(s->bytes);
  *s = (struct stream){0};
}
