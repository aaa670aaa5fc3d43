// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the fields of a protobuf message.

#ifndef MPROF_TOOL_WIRE_H
#define MPROF_TOOL_WIRE_H

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

#endif
