// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodes messages of the protocol buffer format into a buffer of fixed size,
// which the caller owns. The contents of a nested message are written first.
// Then mprof_pb_end_message inserts the message's tag and length before the
// contents, so that the length need not be computed in advance. The functions
// return no errors: the caller checks is_full at the end.
// (Go: runtime/pprof/protobuf.go)

#ifndef MPROF_RT_WRITE_PB_H
#define MPROF_RT_WRITE_PB_H

#include "sys/base.h"

struct mprof_pb {
  unsigned char *data;
  size_t cap, len;
  bool is_full; // true: some output did not fit and was omitted
};

// Maximum size in bytes of a 64-bit integer that is encoded as a varint.
#define MPROF_PB_VARINT_MAX 10

// Appends v as a varint, without a tag.
void mprof_pb_varint(struct mprof_pb *b, uint64_t v);
// These functions append a field with its tag. The functions named _opt write
// nothing if v is 0, because a reader treats a missing field as 0.
void mprof_pb_uint64(struct mprof_pb *b, int tag, uint64_t v);
void mprof_pb_uint64_opt(struct mprof_pb *b, int tag, uint64_t v);
void mprof_pb_int64(struct mprof_pb *b, int tag, int64_t v);
void mprof_pb_int64_opt(struct mprof_pb *b, int tag, int64_t v);
void mprof_pb_bool_opt(struct mprof_pb *b, int tag, bool v);
// These functions append a packed repeated field of n values.
void mprof_pb_uint64s(struct mprof_pb *b, int tag, const uint64_t *v, size_t n);
void mprof_pb_int64s(struct mprof_pb *b, int tag, const int64_t *v, size_t n);
// Appends the tag and the length of a string or bytes field. The caller then
// appends the len bytes of the contents.
void mprof_pb_length(struct mprof_pb *b, int tag, size_t len);
// Appends a string field of len bytes.
void mprof_pb_string(struct mprof_pb *b, int tag, const char *s, size_t len);
// These functions begin and end a nested message. All output between the two
// calls belongs to the message.
// start: the result of mprof_pb_start_message.
size_t mprof_pb_start_message(const struct mprof_pb *b);
void mprof_pb_end_message(struct mprof_pb *b, int tag, size_t start);

#endif // MPROF_RT_WRITE_PB_H
