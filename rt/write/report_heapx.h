// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts of the exit report about the heapx profile (temporary
// blocks, resizes and slack): a section, and a machine-readable summary line at
// the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_HEAPX_H
#define MPROF_RT_WRITE_REPORT_HEAPX_H

#include <stdint.h>

struct mprof_heapx_groups;
struct mprof_report;

// mprof_report_heapx writes the section. mprof_report_heapx_summary writes the
// machine-readable summary line.
// blocks: number of all allocated blocks.
void mprof_report_heapx(struct mprof_report *w,
                        const struct mprof_heapx_groups *g, int64_t blocks);
void mprof_report_heapx_summary(struct mprof_report *w,
                                const struct mprof_heapx_groups *g);

#endif // MPROF_RT_WRITE_REPORT_HEAPX_H
