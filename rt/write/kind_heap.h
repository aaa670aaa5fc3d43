// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy of the profiles heap and allocs, that is, the data from which they
// are written. At the end of the process, the profile heapx is written from
// this copy, too.

#ifndef MPROF_RT_WRITE_KIND_HEAP_H
#define MPROF_RT_WRITE_KIND_HEAP_H

#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_heap.h"

struct mprof_heap_copy {
  struct mprof_mem_snapshot snapshot;
  struct mprof_heap_groups stacks; // groups of the samples by stack
};

struct mprof_profile_row;
// Returns the number of the heap's buckets: the function `count`
// (profile_kind.h) of the profiles that have a record for each of them.
uint64_t mprof_heap_count(const struct mprof_profile_row *row, size_t number);

#endif // MPROF_RT_WRITE_KIND_HEAP_H
