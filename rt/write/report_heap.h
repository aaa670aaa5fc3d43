// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the section of the exit report about the heap profile.
// The lines for scripts stand at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_HEAP_H
#define MPROF_RT_WRITE_REPORT_HEAP_H

struct mprof_report;

// Write the section, and its lines for scripts. w->sum has the data.
void mprof_report_heap(struct mprof_report *w);
void mprof_report_heap_summary(struct mprof_report *w);

#endif // MPROF_RT_WRITE_REPORT_HEAP_H
