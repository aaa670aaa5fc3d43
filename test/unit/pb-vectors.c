// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime encodes fields, packed fields and nested messages as the
// protobuf format prescribes. It detects a message that does not fit into the
// buffer.
//
// RUN: %unit -D_GNU_SOURCE -DMPROF_VERSION='""' %s %rtlib -o %t && %t

#include "check.h"

#include "write/pprof.c"

static unsigned char data[64];
static struct pb b;

static void expect(const char *hex) {
  char got[2 * sizeof(data) + 1] = "";
  for (size_t i = 0; i < b.len; i++)
    sprintf(got + 2 * i, "%02x", data[i]);
  CHECK_STR(got, hex);
  CHECK(!b.is_full);
  b.len = 0;
}

int main(void) {
  b = (struct pb){.data = data, .cap = sizeof(data)};
  pb_varint(&b, 0);
  pb_varint(&b, 127);
  pb_varint(&b, 128);
  pb_varint(&b, 300);
  expect("007f8001ac02");
  pb_varint(&b, UINT64_MAX);
  expect("ffffffffffffffffff01");
  pb_int(&b, 1, 150); // example of the protobuf documentation
  expect("089601");
  pb_int(&b, 2, (uint64_t)-1);
  expect("10ffffffffffffffffff01");
  pb_int_opt(&b, 1, 0);
  expect("");
  pb_int_opt(&b, 16, true); // a tag of two bytes
  expect("800101");
  const uint64_t packed[] = {3, 270, 86942}; // from the documentation
  pb_ints(&b, 6, packed, 3);
  expect("3206038e029ea705");
  const uint64_t negative[] = {UINT64_MAX, 0};
  pb_ints(&b, 1, negative, 2);
  expect("0a0bffffffffffffffffff0100");
  pb_ints(&b, 4, packed, 0);
  expect("2200");

  pb_int(&b, 1, 7);
  size_t outer = b.len;
  pb_int(&b, 1, 1);
  size_t inner = b.len;
  pb_int(&b, 1, 150);
  pb_end_message(&b, 3, inner); // from the documentation: 1a 03 08 96 01
  pb_end_message(&b, 2, outer);
  expect("080712070801"
         "1a03089601");

  for (b.cap = 0; b.cap < 8; b.cap++) {
    b.len = 0;
    b.is_full = false;
    size_t start = b.len;
    pb_int(&b, 1, 150);
    pb_end_message(&b, 3, start);
    CHECK_EQ(b.is_full, b.cap < 5);
    CHECK(b.len <= b.cap);
  }
  return 0;
}
