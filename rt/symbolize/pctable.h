// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table from return addresses to a word each, for the time of one write.

#ifndef MPROF_RT_SYMBOLIZE_PCTABLE_H
#define MPROF_RT_SYMBOLIZE_PCTABLE_H

#include "sys/base.h"

struct mprof_pc_slot {
  mprof_pc pc; // 0: free
  uint64_t value;
};

// All zeros is an empty table.
struct mprof_pc_table {
  struct mprof_pc_slot *slots; // open addressing, a power of two of them
  size_t count, used;
};

// The slot of pc, which is not 0; a new one has value 0. NULL when there is no
// memory. Valid until the next call.
struct mprof_pc_slot *mprof_pc_table_get(struct mprof_pc_table *t, mprof_pc pc);
void mprof_pc_table_free(struct mprof_pc_table *t);

#endif // MPROF_RT_SYMBOLIZE_PCTABLE_H
