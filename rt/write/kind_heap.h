// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kind of the profiles heap and allocs, and its copy, which the profile
// heapx shares at the end of the process.

#ifndef MPROF_RT_WRITE_KIND_HEAP_H
#define MPROF_RT_WRITE_KIND_HEAP_H

#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_heap.h"

struct mprof_heap_copy {
  struct mprof_mem_snapshot snapshot;
  struct mprof_heap_groups stacks; // of the snapshot, once it is grouped
};

#endif // MPROF_RT_WRITE_KIND_HEAP_H
