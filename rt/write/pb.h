// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Protocol buffer encoding into a buffer of fixed size. Messages that nest are
// written first and given their tag and length after, so nothing is measured
// beforehand. (Go: runtime/pprof/protobuf.go)

#ifndef MPROF_RT_WRITE_PB_H
#define MPROF_RT_WRITE_PB_H

#include "sys/base.h"

struct mprof_pb {
  unsigned char *data;
  size_t cap, len;
  bool is_full; // something did not fit; data holds what did
};

// A varint of 64 bits takes at most this many bytes.
#define MPROF_PB_VARINT_MAX 10

void mprof_pb_varint(struct mprof_pb *b, uint64_t v);
// The _opt forms leave out a zero, which is what a reader takes it for.
void mprof_pb_uint64(struct mprof_pb *b, int tag, uint64_t v);
void mprof_pb_uint64_opt(struct mprof_pb *b, int tag, uint64_t v);
void mprof_pb_int64(struct mprof_pb *b, int tag, int64_t v);
void mprof_pb_int64_opt(struct mprof_pb *b, int tag, int64_t v);
void mprof_pb_bool_opt(struct mprof_pb *b, int tag, bool v);
// Packed repeated fields.
void mprof_pb_uint64s(struct mprof_pb *b, int tag, const uint64_t *v, size_t n);
void mprof_pb_int64s(struct mprof_pb *b, int tag, const int64_t *v, size_t n);
// Tag and length of a string or bytes field whose contents follow.
void mprof_pb_length(struct mprof_pb *b, int tag, size_t len);
void mprof_pb_string(struct mprof_pb *b, int tag, const char *s, size_t len);
// Between these two calls, what is written belongs to a nested message.
size_t mprof_pb_start_message(const struct mprof_pb *b);
void mprof_pb_end_message(struct mprof_pb *b, int tag, size_t start);

#endif // MPROF_RT_WRITE_PB_H
