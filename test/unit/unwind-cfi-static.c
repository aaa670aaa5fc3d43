// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: unwind rules are found without the help of the loader, in static
// programs, and in dynamic ones and their libraries.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: build() { %unit -fno-sanitize=all -D_GNU_SOURCE -fomit-frame-pointer %s \
// RUN:   %rt/unwind/eh_frame.c %rt/unwind/find_module.c %rtlib -o app "$@"; }
// RUN: build && ./app
// RUN: build -no-pie && ./app
// RUN: build -static && ./app
// RUN: build -static-pie && ./app
// RUN: build -static -fuse-ld=lld && ./app

#include "check.h"

#include "sys/arch.h"
#include "unwind/rules.h"

#include <stdlib.h>

static void check_rule(uintptr_t function) {
  // At the first instruction, only the return address is on the stack, if calls
  // push it.
  const struct mprof_cfa_rule rule = mprof_eh_rule(function);
  CHECK_EQ(rule.base, MPROF_CFA_FROM_SP);
  CHECK_EQ(rule.cfa_words, MPROF_RA_IS_PUSHED);
  CHECK_EQ(rule.ra_is_saved, MPROF_RA_IS_PUSHED);
  CHECK(!rule.bp_is_saved);
  const struct mprof_code_range code = mprof_eh_function(function);
  CHECK(code.begin == function && code.end > function);
}

int main(void) {
  check_rule((uintptr_t)&main);
  check_rule((uintptr_t)&mprof_eh_rule);
  check_rule((uintptr_t)&qsort);
  return 0;
}
