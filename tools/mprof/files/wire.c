// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/wire.h"

#include "common/memory.h"

#include <string.h>

static bool read_varint(struct wire *w, uint64_t *value) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 70 && w->at < w->end; shift += 7) {
    const uint8_t byte = *w->at++;
    if (shift < 64)
      v |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = v;
      return true;
    }
  }
  w->is_bad = true;
  return false;
}

static bool read_fixed(struct wire *w, unsigned bytes, uint64_t *value) {
  if ((size_t)(w->end - w->at) < bytes) {
    w->is_bad = true;
    return false;
  }
  *value = 0;
  for (unsigned i = 0; i < bytes; i++)
    *value |= (uint64_t)*w->at++ << (8 * i);
  return true;
}

static bool read_bytes(struct wire *w, struct wire *message) {
  uint64_t length;
  if (!read_varint(w, &length))
    return false;
  if (length > (size_t)(w->end - w->at)) {
    w->is_bad = true;
    return false;
  }
  *message = (struct wire){.at = w->at, .end = w->at + length};
  w->at += length;
  return true;
}

bool wire_next(struct wire *w, struct wire_field *field) {
  uint64_t tag;
  if (w->is_bad || w->at == w->end || !read_varint(w, &tag))
    return false;
  *field = (struct wire_field){.type = tag & 7};
  field->number = tag >> 3 > UINT32_MAX ? UINT32_MAX : (unsigned)(tag >> 3);
  if (field->number == 0) {
    w->is_bad = true;
    return false;
  }
  switch (field->type) {
  case WIRE_VARINT:
    return read_varint(w, &field->value);
  case WIRE_FIXED64:
    return read_fixed(w, 8, &field->value);
  case WIRE_BYTES:
    return read_bytes(w, &field->message);
  case WIRE_FIXED32:
    return read_fixed(w, 4, &field->value);
  default:
    w->is_bad = true;
    return false;
  }
}

bool wire_packed(struct wire *w, uint64_t *value) {
  return !w->is_bad && w->at < w->end && read_varint(w, value);
}

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
