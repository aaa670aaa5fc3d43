// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a message reports a quote that is missing, not closed, or closed too
// early. The message shows the right way to write the value.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t 2>&1 | FileCheck %s

#include "core.h"

#include "options/flags.h"
#include "sys/message.h"

static struct mprof_flags f;

static void parse(const char *s) { mprof_flags_parse(&f, s, "options"); }

int main(void) {
  mprof_message_init();
  f = mprof_flags;

  parse("log_path=/tmp/a:b/c");
  // CHECK: options: unknown option 'b/c' without a value; if it is part of a value, quote the value, as in log_path='a:b'{{$}}
  CHECK_STR(f.log_path, "/tmp/a");
  parse("log_path=before:peak");
  // CHECK: options: option 'peak' has no value; add =1{{$}}
  parse("frobnicate");
  // CHECK: options: unknown option 'frobnicate' without a value; if it is part of a value, quote the value
  parse("heap_rat");
  // CHECK: options: unknown option 'heap_rat' without a value, did you mean 'heap_rate'{{$}}
  parse("log_path='a b:report_top=3");
  // CHECK: missing closing ' after 'a b:report_top=3'; the rest of the options is ignored
  parse("log_path=\"a'");
  // CHECK: missing closing " after 'a''; the rest of the options is ignored
  CHECK_EQ(f.report_top, 20);
  parse("log_path=\"a\"b:report_top=3");
  // CHECK: unexpected text after a closing quote: 'b'
  CHECK_EQ(f.report_top, 3);
  CHECK_STR(f.log_path, "before");
  parse("dump_on_signal=SEGV,heap_rat=1");
  // CHECK: unknown option 'heap_rat', did you mean 'heap_rate'
  CHECK_STR(f.dump_on_signal, "SEGV");
  return 0;
}
