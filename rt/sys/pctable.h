// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table that maps return addresses, or other numbers, to 64-bit values.
// The writer of a profile fills a table while it writes the profile. Most
// tables are freed afterwards; the tables of names (symbolize/names.c) stay.
// The memory of a table comes from mmap, not from a heap. A forked child has no
// copy of it, and must forget the table.

#ifndef MPROF_RT_SYS_PCTABLE_H
#define MPROF_RT_SYS_PCTABLE_H

#include "sys/base.h"

struct mprof_pc_slot {
  mprof_pc pc; // 0: the slot is unused
  uint64_t value;
};

// A table. If all bytes are 0, the table is empty.
struct mprof_pc_table {
  struct mprof_pc_slot *slots; // array of `count` slots, with open addressing
  size_t count, used; // numbers of all slots (a power of two) and of used slots
};

// Returns the slot of pc, and adds a slot with value 0 if needed. pc must not
// be 0. Returns NULL if there is no memory. The next call may make the result
// invalid.
struct mprof_pc_slot *mprof_pc_table_get(struct mprof_pc_table *t, mprof_pc pc);
// Returns whether the table has a slot of pc, which must not be 0.
bool mprof_pc_table_has(const struct mprof_pc_table *t, mprof_pc pc);
// Returns the value of pc, which must not be 0, or 0 if the table has no slot.
uint64_t mprof_pc_table_value(const struct mprof_pc_table *t, mprof_pc pc);
void mprof_pc_table_free(struct mprof_pc_table *t);

#endif // MPROF_RT_SYS_PCTABLE_H
