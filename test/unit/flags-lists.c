// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the words of a list option may be separated by any character that
// also separates options, whether or not the list is in quotes. The option
// after the list is not taken for a word of the list.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t
// RUN: %run_quiet %t 2>&1 | FileCheck %s --implicit-check-not=mprof:

#include "check.h"

#include "options/flags.h"
#include "sys/message.h"

static struct mprof_flags f;

static void parse(const char *s, const char *signals, unsigned top) {
  f = mprof_flags;
  mprof_flags_parse(&f, s, "options");
  CHECK_STR(f.dump_on_signal, signals);
  CHECK_EQ(f.report_top, top);
}

int main(void) {
  mprof_message_init();
  parse("dump_on_signal=SEGV", "SEGV", 20);
  parse("dump_on_signal=SEGV+15+TERM:report_top=3", "SEGV+15+TERM", 3);
  parse("dump_on_signal=SEGV,15,TERM,report_top=3", "SEGV+15+TERM", 3);
  parse("dump_on_signal=SEGV, 15 TERM:report_top=3", "SEGV+15+TERM", 3);
  parse("report_top=4,dump_on_signal=SEGV:15, ", "SEGV+15", 4);
  parse("dump_on_signal='SEGV,15 + TERM'report_top=3", "", 20);
  // CHECK: mprof: options: unexpected text after a closing quote: 'report_top=3'
  parse("dump_on_signal=' SEGV,15 + TERM,':report_top=3", "SEGV+15+TERM", 3);
  parse("dump_on_signal=:report_top=3", "", 3);
  parse("dump_on_signal=,report_top=3", "", 3);
  parse("dump_on_signal=SEGV,=1,report_top=3", "SEGV", 3);
  // CHECK: mprof: options: unknown option ''
  // A text option is not a list.
  parse("log_path=a+b", "", 20);
  CHECK_STR(f.log_path, "a+b");

  // The longest possible list is accepted; a longer one is ignored.
  char s[600] = "dump_on_signal=";
  const size_t start = strlen(s);
  memset(s + start, 'x', 511);
  s[start + 100] = ',';
  mprof_flags_parse(&f, s, "options");
  CHECK_EQ(strlen(f.dump_on_signal), 511);
  CHECK_EQ(f.dump_on_signal[100], '+');
  mprof_flags_parse(&f, "dump_on_signal=HUP", "options");
  s[start + 511] = 'x';
  mprof_flags_parse(&f, s, "too long");
  CHECK_STR(f.dump_on_signal, "HUP");
  return 0;
}
// CHECK: mprof: too long: value {{.*}} is longer than 511 bytes; using 'HUP'
