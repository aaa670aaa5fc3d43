// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A section of the report, and its lines for scripts.

#ifndef MPROF_RT_WRITE_REPORT_WAIT_H
#define MPROF_RT_WRITE_REPORT_WAIT_H

struct mprof_report;

void mprof_report_block(struct mprof_report *w);
void mprof_report_block_summary(struct mprof_report *w);
void mprof_report_mutex(struct mprof_report *w);
void mprof_report_mutex_summary(struct mprof_report *w);

#endif // MPROF_RT_WRITE_REPORT_WAIT_H
