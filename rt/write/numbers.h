// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes numbers with nouns, such as "1,234 waits".

#ifndef MPROF_RT_WRITE_NUMBERS_H
#define MPROF_RT_WRITE_NUMBERS_H

#include "sys/base.h"

struct mprof_text;

// Appends n and the noun `thing` to t, such as "1,234 waits" or "1 wait".
void mprof_put_things(struct mprof_text *t, uint64_t n, const char *thing);
// Appends n, the noun `thing` and the number of stacks to t, such as "1,234
// samples, 56 stacks".
void mprof_put_things_and_stacks(struct mprof_text *t, uint64_t n,
                                 const char *thing, uint64_t stacks);

#endif // MPROF_RT_WRITE_NUMBERS_H
