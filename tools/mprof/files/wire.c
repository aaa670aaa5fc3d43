// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/wire.h"

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
