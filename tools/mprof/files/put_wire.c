// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/put_wire.h"

#include "common/memory.h"
#include "files/wire.h"

#include <string.h>

void put_bytes(struct put *out, const void *bytes, size_t length) {
  struct bytes *b = &out->bytes;
  b->at = grow(b->at, &out->capacity, b->length + length, 1);
  if (length)
    memcpy(b->at + b->length, bytes, length);
  b->length += length;
}

static size_t encode(uint64_t value, uint8_t buffer[10]) {
  size_t n = 0;
  for (; value >= 0x80; value >>= 7)
    buffer[n++] = (uint8_t)(value | 0x80);
  buffer[n++] = (uint8_t)value;
  return n;
}

void put_varint(struct put *out, uint64_t value) {
  uint8_t buffer[10];
  put_bytes(out, buffer, encode(value, buffer));
}

static void put_tag(struct put *out, unsigned field, unsigned type) {
  put_varint(out, (uint64_t)field << 3 | type);
}

void put_number(struct put *out, unsigned field, uint64_t value) {
  if (value == 0)
    return;
  put_tag(out, field, WIRE_VARINT);
  put_varint(out, value);
}

void put_fixed64(struct put *out, unsigned field, uint64_t value) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++)
    bytes[i] = (uint8_t)(value >> 8 * i);
  put_tag(out, field, WIRE_FIXED64);
  put_bytes(out, bytes, sizeof bytes);
}

void put_data(struct put *out, unsigned field, const void *bytes,
              size_t length) {
  put_tag(out, field, WIRE_BYTES);
  put_varint(out, length);
  put_bytes(out, bytes, length);
}

void put_text(struct put *out, unsigned field, const char *text) {
  put_data(out, field, text, strlen(text));
}

size_t begin_message(struct put *out, unsigned field) {
  put_tag(out, field, WIRE_BYTES);
  return out->bytes.length;
}

// Inserts the length of the message in front of its content.
void end_message(struct put *out, size_t start) {
  uint8_t buffer[10];
  const size_t length = out->bytes.length - start, n = encode(length, buffer);
  put_bytes(out, buffer, n);
  memmove(out->bytes.at + start + n, out->bytes.at + start, length);
  memcpy(out->bytes.at + start, buffer, n);
}
