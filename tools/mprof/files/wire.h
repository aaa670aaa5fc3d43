// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes the fields of protobuf messages.

#ifndef MPROF_TOOL_WIRE_H
#define MPROF_TOOL_WIRE_H

#include "files/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

// The rest of a message. is_bad is set if the message is damaged or ends in the
// middle of a field.
struct wire {
  const uint8_t *at, *end;
  bool is_bad;
};

struct wire_field {
  unsigned number, type;
  uint64_t value;      // WIRE_VARINT, WIRE_FIXED64, WIRE_FIXED32
  struct wire message; // WIRE_BYTES
};

// Reads the next field. Returns false at the end or if the message is damaged.
bool wire_next(struct wire *w, struct wire_field *field);
// Reads a number of a packed field. Returns false at the end.
bool wire_packed(struct wire *w, uint64_t *value);

// The message that is written. All zero at first. The user frees bytes.at.
struct put {
  struct bytes bytes;
  size_t capacity;
};

void put_bytes(struct put *out, const void *bytes, size_t length);
void put_varint(struct put *out, uint64_t value);
// Writes a number. Omits 0, the default of protobuf.
void put_number(struct put *out, unsigned field, uint64_t value);
// Writes a field of the type fixed64.
void put_fixed64(struct put *out, unsigned field, uint64_t value);
// Writes a field of the type string or bytes, also if it is empty.
void put_data(struct put *out, unsigned field, const void *bytes,
              size_t length);
void put_text(struct put *out, unsigned field, const char *text);
// Begins a message that is a field, and returns the argument for end_message.
size_t begin_message(struct put *out, unsigned field);
void end_message(struct put *out, size_t start);

#endif // MPROF_TOOL_WIRE_H
