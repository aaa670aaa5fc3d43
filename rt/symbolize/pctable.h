// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table that maps return addresses to 64-bit words. A writer fills a
// table while it writes one profile and frees it afterwards. Its memory comes
// from the system, not from a heap.

#ifndef MPROF_RT_SYMBOLIZE_PCTABLE_H
#define MPROF_RT_SYMBOLIZE_PCTABLE_H

#include "sys/base.h"

struct mprof_pc_slot {
  mprof_pc pc; // 0: free
  uint64_t value;
};

// An all-zero struct is an empty table.
struct mprof_pc_table {
  struct mprof_pc_slot *slots; // open addressing; count is a power of two
  size_t count, used;
};

// Returns the slot of pc, which must not be 0. A new slot has the value 0.
// Returns NULL if there is no memory. The pointer is valid until the next call.
struct mprof_pc_slot *mprof_pc_table_get(struct mprof_pc_table *t, mprof_pc pc);
void mprof_pc_table_free(struct mprof_pc_table *t);

#endif // MPROF_RT_SYMBOLIZE_PCTABLE_H
