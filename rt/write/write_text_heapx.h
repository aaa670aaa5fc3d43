// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heapx profile as text.

#ifndef MPROF_RT_WRITE_WRITE_TEXT_HEAPX_H
#define MPROF_RT_WRITE_WRITE_TEXT_HEAPX_H

#include "snapshot/group_by_stack.h"

struct mprof_outfile;

// One of counts, in a form that Go has for those.
int mprof_write_heapx_text(struct mprof_outfile *f,
                           const struct mprof_heapx_stacks *g);

#endif // MPROF_RT_WRITE_WRITE_TEXT_HEAPX_H
