// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes numbers with nouns, such as "1,234 waits"; see numbers.h.

#include "write/numbers.h"

#include "sys/message.h"

void mprof_put_things(struct mprof_text *t, uint64_t n, const char *thing) {
  mprof_text_grouped(t, n);
  mprof_text_str(t, " ");
  mprof_text_str(t, thing);
  if (n != 1)
    mprof_text_str(t, "s");
}

void mprof_put_things_and_stacks(struct mprof_text *t, uint64_t n,
                                 const char *thing, uint64_t stacks) {
  mprof_put_things(t, n, thing);
  mprof_text_str(t, ", ");
  mprof_put_things(t, stacks, "stack");
}
