// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the sections of the exit report about the block profile and the mutex
// profile.
// The lines for scripts stand at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_WAIT_H
#define MPROF_RT_WRITE_REPORT_WAIT_H

struct mprof_report;

// Write the section of the block profile, and its lines for scripts. w->sum has
// the data.
void mprof_report_block(struct mprof_report *w);
void mprof_report_block_summary(struct mprof_report *w);
// Write the section of the mutex profile, and its lines for scripts.
void mprof_report_mutex(struct mprof_report *w);
void mprof_report_mutex_summary(struct mprof_report *w);

#endif // MPROF_RT_WRITE_REPORT_WAIT_H
