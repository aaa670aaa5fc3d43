// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the profiles heap, allocs and peak that other files use.

#ifndef MPROF_RT_WRITE_KIND_HEAP_H
#define MPROF_RT_WRITE_KIND_HEAP_H

#include "snapshot/snapshot.h"

// The data from which the profiles heap and allocs are written and, at the end
// of the process, the profile heapx, too.
struct mprof_heap_copy {
  struct mprof_mem_snapshot snapshot;
  struct mprof_heap_groups stacks; // groups of the samples by stack
};

// Returns the reason why g has no samples, as a text for people. Returns NULL
// if g has samples.
// rate: current sampling rate of the heap profile, in bytes.
const char *mprof_heap_groups_why_none(const struct mprof_heap_groups *g,
                                       uint64_t rate);

struct mprof_pprof;
struct mprof_pprof_label;
// The keys of the labels that mprof_heap_put_sample writes.
#define MPROF_HEAP_KEYS {"bytes", "heap_rate"}
// Writes a sample in pprof's format (pprof.h), with the size of its blocks as a
// label. The error of the values depends on the rate at which the blocks were
// sampled. If this is not the rate of the snapshot m, the rate is a label, too.
// keys: the string numbers of MPROF_HEAP_KEYS. more: a further label, or NULL.
void mprof_heap_put_sample(struct mprof_pprof *w,
                           const struct mprof_mem_snapshot *m,
                           const struct mprof_bucket *b, const int64_t *values,
                           const uint64_t *keys,
                           const struct mprof_pprof_label *more);

#endif // MPROF_RT_WRITE_KIND_HEAP_H
