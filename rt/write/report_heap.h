// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts of the exit report about the heap profile: a section, and a
// machine-readable summary line at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_HEAP_H
#define MPROF_RT_WRITE_REPORT_HEAP_H

struct mprof_mem_snapshot;
struct mprof_report;
struct mprof_heap_groups;

// mprof_report_heap writes the section. mprof_report_heap_summary writes the
// machine-readable summary line. g: the samples of s, grouped by stack.
void mprof_report_heap(struct mprof_report *w,
                       const struct mprof_mem_snapshot *s,
                       const struct mprof_heap_groups *g);
void mprof_report_heap_summary(struct mprof_report *w,
                               const struct mprof_mem_snapshot *s,
                               const struct mprof_heap_groups *g);

#endif // MPROF_RT_WRITE_REPORT_HEAP_H
