// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts of the exit report about the block profile and the mutex
// profile: a section for each profile, and machine-readable summary lines at
// the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_WAIT_H
#define MPROF_RT_WRITE_REPORT_WAIT_H

struct mprof_report;
struct mprof_wait_snapshot;
struct mprof_wait_groups;

// mprof_report_wait writes the section. mprof_report_wait_summary writes the
// machine-readable summary line. s->type selects the block profile or the mutex
// profile. g: the samples of s, grouped by stack.
void mprof_report_wait(struct mprof_report *w,
                       const struct mprof_wait_snapshot *s,
                       const struct mprof_wait_groups *g);
void mprof_report_wait_summary(struct mprof_report *w,
                               const struct mprof_wait_snapshot *s,
                               const struct mprof_wait_groups *g);

#endif // MPROF_RT_WRITE_REPORT_WAIT_H
