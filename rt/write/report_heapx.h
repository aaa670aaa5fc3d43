// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A section of the report, and its lines for scripts.

#ifndef MPROF_RT_WRITE_REPORT_HEAPX_H
#define MPROF_RT_WRITE_REPORT_HEAPX_H

#include <stdint.h>

struct mprof_heapx_stacks;
struct mprof_report;

// blocks: how many were allocated, in all.
void mprof_report_heapx(struct mprof_report *w,
                        const struct mprof_heapx_stacks *g, int64_t blocks);
void mprof_report_heapx_summary(struct mprof_report *w,
                                const struct mprof_heapx_stacks *g);

#endif // MPROF_RT_WRITE_REPORT_HEAPX_H
