// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the heapx profile as legacy text (legacy.h), in Go's format for
// profiles of counts. The count of each stack is its number of temporary
// blocks. A comment line before the stack has the other values.

#ifndef MPROF_RT_WRITE_WRITE_TEXT_HEAPX_H
#define MPROF_RT_WRITE_WRITE_TEXT_HEAPX_H

#include "snapshot/group_by_stack.h"

struct mprof_outfile;

// Writes the heapx profile to f. Returns 0 or the first error of f. The caller
// closes f. Call with the recursion guard set and writer_lock held.
int mprof_write_heapx_text(struct mprof_outfile *f,
                           const struct mprof_heapx_groups *g);

#endif // MPROF_RT_WRITE_WRITE_TEXT_HEAPX_H
