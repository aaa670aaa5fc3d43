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
// Returns how many bytes stream_put adds.
size_t stream_size(uint64_t number);
void stream_put_signed(struct stream *s, int64_t number);
// Returns the number at *at, which moves behind it. The sequence must have a
// number there.
uint64_t stream_get(const struct stream *s, size_t *at);
int64_t stream_get_signed(const struct stream *s, size_t *at);
// Writes the numbers as a further field of an object of JSON, which also has
// their count, and frees the sequence.
void stream_write(struct stream *s, const char *name, size_t count, FILE *out);

#endif
