// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the section of the exit report about the heap profile.
// The lines for scripts stand at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_HEAP_H
#define MPROF_RT_WRITE_REPORT_HEAP_H

struct mprof_mem_snapshot;
struct mprof_report;
struct mprof_heap_groups;

// Write the section of the report, and its lines for scripts. g: the stacks of
// s.
void mprof_report_heap(struct mprof_report *w,
                       const struct mprof_mem_snapshot *s,
                       const struct mprof_heap_groups *g);
void mprof_report_heap_summary(struct mprof_report *w,
                               const struct mprof_mem_snapshot *s,
                               const struct mprof_heap_groups *g);

#endif // MPROF_RT_WRITE_REPORT_HEAP_H
