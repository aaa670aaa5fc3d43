// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: for each kind of mistake in MPROF_OPTIONS, a message says what is
// wrong, which values are possible and which value is used. A number above the
// maximum is set to the maximum. Any other mistake leaves the option unchanged.
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

  parse("heap_rat=1");
  // CHECK: mprof: options: unknown option 'heap_rat', did you mean 'heap_rate'
  parse("allocation_sites=1");
  // CHECK: unknown option 'allocation_sites'; MPROF_OPTIONS=help=1 lists the options{{$}}
  parse("simbolise=1");
  // CHECK: unknown option 'simbolise', did you mean 'symbolize'
  parse("=1");
  // CHECK: unknown option ''; MPROF_OPTIONS=help=1 lists the options
  CHECK_EQ(f.heap_rate, 524288);

  parse("heap_rate=12x");
  // CHECK: value '12x' of option 'heap_rate' is not a number from 0 to {{[0-9]+}}; using 524288
  parse("heap_rate=-1");
  // CHECK: value '-1' of option 'heap_rate' is not
  parse("heap_rate=k:heap_rate=");
  // CHECK: value 'k' of option 'heap_rate' is not
  // CHECK: value '' of option 'heap_rate' is not
  parse("stack_depth=1025");
  // CHECK: value '1025' of option 'stack_depth' is not a number from 0 to 1024; using 1024
  parse("max_memory_mb=0");
  // CHECK: value '0' of option 'max_memory_mb' is not a number from 4 to 65536; using 1024
  parse("seed=18446744073709551616");
  // CHECK: value '18446744073709551616' of option 'seed'
  parse("seed=17179869184g");
  // CHECK: value '17179869184g' of option 'seed'
  parse("heap=on");
  // CHECK: value 'on' of option 'heap' is not 0, 1, true, false, yes or no; using 1
  parse("heap");
  // CHECK: option 'heap' has no value; add =1{{$}}
  CHECK(f.heap_rate == 524288 && f.heap);
  // An amount above its maximum is set to the maximum.
  CHECK_EQ(f.stack_depth, 1024);
  parse("heap_rate=1g");
  // CHECK: value '1g' of option 'heap_rate' is not a number from 0 to 117440512; using 117440512
  CHECK_EQ(f.heap_rate, 117440512);
  // A signal number above its maximum is ignored instead.
  parse("threads_signal=65");
  // CHECK: value '65' of option 'threads_signal' is not a number from 36 to 64; using 60
  CHECK(f.max_memory_mb == 1024 && f.seed == 0);

  CHECK_STR(f.log_path, "mprof.%e.%p");
  return 0;
}
