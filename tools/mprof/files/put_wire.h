// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the fields of protobuf messages.

#ifndef MPROF_TOOL_PUT_WIRE_H
#define MPROF_TOOL_PUT_WIRE_H

#include "files/bytes.h"

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

#endif
