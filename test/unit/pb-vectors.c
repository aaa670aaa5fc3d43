// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime encodes fields, packed fields and nested messages as the
// protobuf format prescribes. It detects a message that does not fit into the
// buffer.
//
// RUN: %unit -D_GNU_SOURCE %s %rt/write/pb.c -o %t && %t

#include "check.h"

#include "write/pb.h"

static unsigned char data[64];
static struct mprof_pb b;

static void expect(const char *hex) {
  char got[2 * sizeof(data) + 1] = "";
  for (size_t i = 0; i < b.len; i++)
    sprintf(got + 2 * i, "%02x", data[i]);
  CHECK_STR(got, hex);
  CHECK(!b.is_full);
  b.len = 0;
}

int main(void) {
  b = (struct mprof_pb){.data = data, .cap = sizeof(data)};
  mprof_pb_varint(&b, 0);
  mprof_pb_varint(&b, 127);
  mprof_pb_varint(&b, 128);
  mprof_pb_varint(&b, 300);
  expect("007f8001ac02");
  mprof_pb_varint(&b, UINT64_MAX);
  expect("ffffffffffffffffff01");
  mprof_pb_uint64(&b, 1, 150); // example of the protobuf documentation
  expect("089601");
  mprof_pb_int64(&b, 2, -1);
  expect("10ffffffffffffffffff01");
  mprof_pb_uint64_opt(&b, 1, 0);
  mprof_pb_int64_opt(&b, 1, 0);
  mprof_pb_bool_opt(&b, 1, false);
  expect("");
  mprof_pb_bool_opt(&b, 16, true); // a tag of two bytes
  expect("800101");
  mprof_pb_string(&b, 2, "testing", 7); // from the documentation
  expect("120774657374696e67");
  const uint64_t packed[] = {3, 270, 86942}; // from the documentation
  mprof_pb_uint64s(&b, 6, packed, 3);
  expect("3206038e029ea705");
  const int64_t negative[] = {-1, 0};
  mprof_pb_int64s(&b, 1, negative, 2);
  expect("0a0bffffffffffffffffff0100");
  mprof_pb_uint64s(&b, 4, packed, 0);
  expect("2200");

  mprof_pb_uint64(&b, 1, 7);
  size_t outer = mprof_pb_start_message(&b);
  mprof_pb_uint64(&b, 1, 1);
  size_t inner = mprof_pb_start_message(&b);
  mprof_pb_uint64(&b, 1, 150);
  mprof_pb_end_message(&b, 3, inner); // from the documentation: 1a 03 08 96 01
  mprof_pb_end_message(&b, 2, outer);
  expect("080712070801"
         "1a03089601");

  for (b.cap = 0; b.cap < 8; b.cap++) {
    b.len = 0;
    b.is_full = false;
    size_t start = mprof_pb_start_message(&b);
    mprof_pb_uint64(&b, 1, 150);
    mprof_pb_end_message(&b, 3, start);
    CHECK_EQ(b.is_full, b.cap < 5);
    CHECK(b.len <= b.cap);
  }
  return 0;
}
