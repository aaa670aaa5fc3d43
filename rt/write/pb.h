// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodes protocol buffers into a buffer of fixed size, which the caller owns.
// A nested message is written first, and then gets its tag and length before
// it, so nothing has to be measured beforehand. Errors are not returned:
// is_full tells at the end whether anything did not fit.
// (Go: runtime/pprof/protobuf.go)

#ifndef MPROF_RT_WRITE_PB_H
#define MPROF_RT_WRITE_PB_H

#include "sys/base.h"

struct mprof_pb {
  unsigned char *data;
  size_t cap, len;
  bool is_full; // some output did not fit; data has the rest
};

// Maximum length of a varint of 64 bits, in bytes.
#define MPROF_PB_VARINT_MAX 10

// Appends a varint without a tag.
void mprof_pb_varint(struct mprof_pb *b, uint64_t v);
// Append a field with its tag. The _opt forms write nothing for 0: a reader
// takes a missing field for 0.
void mprof_pb_uint64(struct mprof_pb *b, int tag, uint64_t v);
void mprof_pb_uint64_opt(struct mprof_pb *b, int tag, uint64_t v);
void mprof_pb_int64(struct mprof_pb *b, int tag, int64_t v);
void mprof_pb_int64_opt(struct mprof_pb *b, int tag, int64_t v);
void mprof_pb_bool_opt(struct mprof_pb *b, int tag, bool v);
// Append a packed repeated field of n values.
void mprof_pb_uint64s(struct mprof_pb *b, int tag, const uint64_t *v, size_t n);
void mprof_pb_int64s(struct mprof_pb *b, int tag, const int64_t *v, size_t n);
// Appends the tag and length of a string or bytes field, whose contents of len
// bytes the caller appends next.
void mprof_pb_length(struct mprof_pb *b, int tag, size_t len);
// Appends a string field of len bytes.
void mprof_pb_string(struct mprof_pb *b, int tag, const char *s, size_t len);
// Begin and end a nested message: all output between the two calls belongs to
// it. start: the result of mprof_pb_start_message.
size_t mprof_pb_start_message(const struct mprof_pb *b);
void mprof_pb_end_message(struct mprof_pb *b, int tag, size_t start);

#endif // MPROF_RT_WRITE_PB_H
