// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: MProf treats exactly those characters as printable for which Go's
// strconv.IsPrint returns true. The test compares all characters if Go has the
// same version of Unicode.
//
// REQUIRES: go
// RUN: %unit %s %rtlib -o %t && %t > %t.runs
// RUN: %go run %src/utils/unicode/printable.go > %t.go
// RUN: if grep -x 'Unicode 15.0.0' %t.go; then cmp %t.runs %t.go; fi
// RUN: %go run %src/utils/unicode/printable.go -c > %t.c
// RUN: sed '1,/char runs\[\]/d; /^};/,$d' %src/rt/thread/labels_text.c > %t.table
// RUN: if grep -q 'Unicode 15.0.0' %t.go; then cmp %t.c %t.table; fi

#include "core.h"

#include "thread/labels.h"

int main(void) {
  unsigned start = 0;
  bool is_printable = false;
  puts("Unicode 15.0.0");
  for (unsigned c = 0; c <= 0x10ffff; c++)
    if (mprof_is_printable(c) != is_printable) {
      printf("%u\n", c - start);
      start = c;
      is_printable = !is_printable;
    }
  return 0;
}
