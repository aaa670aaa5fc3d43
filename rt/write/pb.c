// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodes messages of the protocol buffer format into a buffer that the caller
// owns; see pb.h. A field is encoded as
//
//   varint: tag << 3 | wire type
//   contents: a varint, or a length and that many bytes
//
// The messages of a profile are defined in profile_proto.h.
// (Go: runtime/pprof/protobuf.go)

#include "write/pb.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void put(struct mprof_pb *b, const void *data, size_t len) {
  if (len > b->cap - b->len) {
    b->is_full = true;
    return;
  }
  memcpy(b->data + b->len, data, len);
  b->len += len;
}

static size_t encode(unsigned char *out, uint64_t v) {
  size_t n = 0;
  for (; v >= 0x80; v >>= 7)
    out[n++] = (unsigned char)(v | 0x80);
  out[n++] = (unsigned char)v;
  return n;
}

static size_t varint_size(uint64_t v) {
  size_t n = 1;
  for (; v >= 0x80; v >>= 7)
    n++;
  return n;
}

void mprof_pb_varint(struct mprof_pb *b, uint64_t v) {
  unsigned char bytes[MPROF_PB_VARINT_MAX];
  put(b, bytes, encode(bytes, v));
}

void mprof_pb_length(struct mprof_pb *b, int tag, size_t len) {
  mprof_pb_varint(b, (uint64_t)tag << 3 | WIRE_BYTES);
  mprof_pb_varint(b, len);
}

void mprof_pb_uint64(struct mprof_pb *b, int tag, uint64_t v) {
  mprof_pb_varint(b, (uint64_t)tag << 3 | WIRE_VARINT);
  mprof_pb_varint(b, v);
}

void mprof_pb_uint64_opt(struct mprof_pb *b, int tag, uint64_t v) {
  if (v != 0)
    mprof_pb_uint64(b, tag, v);
}

void mprof_pb_int64(struct mprof_pb *b, int tag, int64_t v) {
  mprof_pb_uint64(b, tag, (uint64_t)v);
}

void mprof_pb_int64_opt(struct mprof_pb *b, int tag, int64_t v) {
  mprof_pb_uint64_opt(b, tag, (uint64_t)v);
}

void mprof_pb_bool_opt(struct mprof_pb *b, int tag, bool v) {
  mprof_pb_uint64_opt(b, tag, v);
}

void mprof_pb_uint64s(struct mprof_pb *b, int tag, const uint64_t *v,
                      size_t n) {
  size_t len = 0;
  for (size_t i = 0; i < n; i++)
    len += varint_size(v[i]);
  mprof_pb_length(b, tag, len);
  for (size_t i = 0; i < n; i++)
    mprof_pb_varint(b, v[i]);
}

void mprof_pb_int64s(struct mprof_pb *b, int tag, const int64_t *v, size_t n) {
  // A signed integer is encoded as the unsigned integer with the same bits.
  mprof_pb_uint64s(b, tag, (const uint64_t *)v, n);
}

void mprof_pb_string(struct mprof_pb *b, int tag, const char *s, size_t len) {
  mprof_pb_length(b, tag, len);
  put(b, s, len);
}

size_t mprof_pb_start_message(const struct mprof_pb *b) { return b->len; }

// Inserts the tag and the length of the message before its contents, by moving
// the contents. (Go appends the tag and the length, and then rotates the bytes.
// The result is the same.)
void mprof_pb_end_message(struct mprof_pb *b, int tag, size_t start) {
  unsigned char head[2 * MPROF_PB_VARINT_MAX];
  size_t len = b->len - start;
  size_t n = encode(head, (uint64_t)tag << 3 | WIRE_BYTES);
  n += encode(head + n, len);
  if (n > b->cap - b->len) {
    b->is_full = true;
    return;
  }
  memmove(b->data + start + n, b->data + start, len);
  memcpy(b->data + start, head, n);
  b->len += n;
}
