// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the heap profile as legacy text (legacy.h), for old programs and for
// people.

#ifndef MPROF_RT_WRITE_WRITE_TEXT_H
#define MPROF_RT_WRITE_WRITE_TEXT_H

#include "snapshot/snapshot_heap.h"

struct mprof_outfile;

// Writes the heap profile to f. Returns 0 or the first error of f. The caller
// closes f. Call with the recursion guard set and writer_lock held.
// (Go: writeHeapInternal, debug=1)
int mprof_write_heap_text(struct mprof_outfile *f,
                          const struct mprof_mem_snapshot *s);

#endif // MPROF_RT_WRITE_WRITE_TEXT_H
