// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: options are separated by colons, commas or blanks; values may be
// quoted; numbers may have a unit; and the last setting of an option wins.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t
// RUN: %t 2>&1 | FileCheck %s --implicit-check-not=options:

#include "core.h"

#include "options/flags.h"
#include "sys/message.h"

static struct mprof_flags f;

int main(void) {
  mprof_message_init();
  f = mprof_flags;
  CHECK(f.heap && f.heap_rate == 524288 && f.stack_depth == 128);
  CHECK_STR(f.log_path, "mprof.%e.%p");
  const char *no[] = {"heap=0", "heap=false", "heap=no"};
  const char *yes[] = {"heap=1", "heap=true", "heap=yes"};
  for (int i = 0; i < 3; i++) {
    mprof_flags_parse(&f, no[i], "options");
    CHECK(!f.heap);
    mprof_flags_parse(&f, yes[i], "options");
    CHECK(f.heap);
  }
  mprof_flags_parse(&f, "", "options");
  mprof_flags_parse(&f, ":: ,\n\t", "options");
  mprof_flags_parse(
      &f, "report_top=1:report_top=2,report_top=3 format=1\nheap_rate=64k::",
      "options");
  CHECK(f.report_top == 3 && f.format == 1 && f.heap_rate == 65536);
  mprof_flags_parse(&f, "heap_rate=2M", "options");
  CHECK_EQ(f.heap_rate, 2 << 20);
  mprof_flags_parse(&f, "seed=3g", "options");
  CHECK_EQ(f.seed, 3ull << 30);
  mprof_flags_parse(&f, "seed=18446744073709551615", "options");
  CHECK(f.seed == UINT64_MAX);
  mprof_flags_parse(&f, "log_path='a:b, \"c\"':report_top=4", "options");
  CHECK_STR(f.log_path, "a:b, \"c\"");
  mprof_flags_parse(&f, "log_path=\"it's\" report_top=5", "options");
  CHECK_STR(f.log_path, "it's");
  CHECK_EQ(f.report_top, 5);
  mprof_flags_parse(&f, "log_path=", "options");
  CHECK_STR(f.log_path, "");

  // A text of the longest possible length is accepted; a longer one is ignored.
  char s[600] = "log_path=";
  memset(s + 9, 'x', 512);
  s[9 + 511] = '\0';
  mprof_flags_parse(&f, s, "options");
  CHECK_EQ(strlen(f.log_path), 511);
  mprof_flags_parse(&f, "log_path=short", "options");
  s[9 + 511] = 'x';
  mprof_flags_parse(&f, s, "too long");
  CHECK_STR(f.log_path, "short");
  return 0;
}
// CHECK: mprof: too long: value 'xxx{{x*}}...' of option 'log_path' is longer
// than 511 bytes; using 'short'
