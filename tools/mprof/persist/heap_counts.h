// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the counts of a MEM bucket in the file of the option persist: those of
// the heap profile, of heapx and of the peak.

#ifndef MPROF_TOOL_PERSIST_HEAP_COUNTS_H
#define MPROF_TOOL_PERSIST_HEAP_COUNTS_H

#include "bucket/bucket.h"
#include "bucket/heapx.h"
#include "persist/file.h"

struct persist_heap_counts {
  uint64_t allocs, frees;
  uint64_t heapx[MPROF_HEAPX_COUNTERS]; // 0 without the option heapx
};

// Read the counts of the bucket at an address, whose copy is b: those at the
// end of the process, and those at the peak. Set f->is_damaged if the file does
// not have them all.
struct persist_heap_counts persist_heap_counts(struct persist_file *f,
                                               uint64_t address,
                                               const struct mprof_bucket *b);
struct persist_heap_counts persist_peak_counts(struct persist_file *f,
                                               uint64_t address);

#endif
