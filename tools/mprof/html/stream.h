// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sequences of numbers in an HTML page. A sequence is a string of base64 whose
// bytes are varints, as in protobuf. page.js/Stream reads it.

#ifndef MPROF_TOOL_STREAM_H
#define MPROF_TOOL_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct stream {
  uint8_t *bytes;
  size_t count, capacity;
};

void stream_put(struct stream *s, uint64_t number);
// Puts a number that may be negative (zigzag, as in protobuf).
void stream_put_signed(struct stream *s, int64_t number);
// Writes the numbers as a string of JSON, with its quotes.
void stream_write(const struct stream *s, FILE *out);
void stream_free(struct stream *s);

#endif
