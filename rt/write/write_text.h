// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap profile as legacy text.

#ifndef MPROF_RT_WRITE_WRITE_TEXT_H
#define MPROF_RT_WRITE_WRITE_TEXT_H

#include "snapshot/snapshot_heap.h"

struct mprof_outfile;

// Legacy text. (Go: writeHeapInternal, debug=1)
int mprof_write_heap_text(struct mprof_outfile *f,
                          const struct mprof_mem_snapshot *s);

#endif // MPROF_RT_WRITE_WRITE_TEXT_H
