// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the heap profile as legacy text, which old readers and people read
// (legacy.h).

#ifndef MPROF_RT_WRITE_WRITE_TEXT_H
#define MPROF_RT_WRITE_WRITE_TEXT_H

#include "snapshot/snapshot_heap.h"

// Writes the text to a new file, which replaces path. Returns 0 or an errno
// value, after which path is unchanged. Call with the guard set and writer_lock
// held. (Go: writeHeapInternal, debug=1)
int mprof_write_heap_text(const struct mprof_mem_snapshot *s, const char *path);

#endif // MPROF_RT_WRITE_WRITE_TEXT_H
