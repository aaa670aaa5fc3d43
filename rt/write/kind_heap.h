// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the profiles heap and allocs that other kinds of heap profiles
// use, and the legacy texts (legacy.h) of heap profiles.

#ifndef MPROF_RT_WRITE_KIND_HEAP_H
#define MPROF_RT_WRITE_KIND_HEAP_H

#include "snapshot/snapshot_heap.h"
#include "snapshot/stack_groups.h"

// The data from which the profiles heap and allocs are written and, at the end
// of the process, the profile heapx, too.
struct mprof_heap_copy {
  struct mprof_mem_snapshot snapshot;
  struct mprof_heap_groups stacks; // groups of the samples by stack
};

struct mprof_profile_row;
// Returns the number of the heap's buckets: the function `count`
// (profile_kind.h) of the profiles that have a record for each of them.
uint64_t mprof_heap_count(const struct mprof_profile_row *row, size_t number);

// These functions write a profile to f as legacy text. Each returns 0 or the
// first error of f. The caller closes f. Call them with the recursion guard set
// and writer_lock held.
struct mprof_outfile;
// Writes the heap profile. (Go: writeHeapInternal, debug=1)
int mprof_write_heap_text(struct mprof_outfile *f,
                          const struct mprof_mem_snapshot *s);
// Writes the heapx profile, in Go's format for profiles of counts. The count of
// each stack is its number of temporary blocks. A comment line before the stack
// has the other values.
int mprof_write_heapx_text(struct mprof_outfile *f,
                           const struct mprof_heapx_groups *g);

#endif // MPROF_RT_WRITE_KIND_HEAP_H
