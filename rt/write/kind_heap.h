// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile kind of the profiles heap and allocs. At the end of the process,
// the profile heapx uses the copy of this kind, too.

#ifndef MPROF_RT_WRITE_KIND_HEAP_H
#define MPROF_RT_WRITE_KIND_HEAP_H

#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_heap.h"

struct mprof_heap_copy {
  struct mprof_mem_snapshot snapshot;
  struct mprof_heap_groups stacks; // groups of the snapshot
};

#endif // MPROF_RT_WRITE_KIND_HEAP_H
