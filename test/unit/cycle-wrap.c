// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the cycle number wraps to 0 at 3 * (2 << 24). There the index of the
// three sets of counts also changes from 2 to 0. Each new cycle clears the
// flushed bit.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "sys/tls.h"

int main(void) {
  CHECK_EQ(MPROF_CYCLE_WRAP, 100663296);
  mprof_cycle_set_word(100663295u << 1 | 1);
  CHECK_EQ(mprof_cycle_read() % 3, 2);
  mprof_cycle_advance();
  CHECK_EQ(mprof_cycle_word(), 0);
  mprof_cycle_advance();
  CHECK_EQ(mprof_cycle_read() % 3, 1);
  CHECK_EQ(mprof_cycle_explicit_index(), 0);
  mprof_guard_enter();
  mprof_cycle_publish_due();
  mprof_guard_leave();
  CHECK_EQ(mprof_cycle_word(), 1u << 1 | 1);
  return 0;
}
