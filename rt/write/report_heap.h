// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A section of the report, and its lines for scripts.

#ifndef MPROF_RT_WRITE_REPORT_HEAP_H
#define MPROF_RT_WRITE_REPORT_HEAP_H

struct mprof_mem_snapshot;
struct mprof_report;
struct mprof_stacks;

void mprof_report_heap(struct mprof_report *w,
                       const struct mprof_mem_snapshot *s,
                       const struct mprof_stacks *g);
void mprof_report_heap_summary(struct mprof_report *w,
                               const struct mprof_mem_snapshot *s,
                               const struct mprof_stacks *g);

#endif // MPROF_RT_WRITE_REPORT_HEAP_H
