// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the sections of the exit report about the block profile and the mutex
// profile.
// The lines for scripts stand at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_WAIT_H
#define MPROF_RT_WRITE_REPORT_WAIT_H

struct mprof_report;
struct mprof_wait_snapshot;
struct mprof_wait_groups;

// Write the section of the report, and its lines for scripts. The type of s
// tells the block profile from the mutex profile. g: the stacks of s.
void mprof_report_wait(struct mprof_report *w,
                       const struct mprof_wait_snapshot *s,
                       const struct mprof_wait_groups *g);
void mprof_report_wait_summary(struct mprof_report *w,
                               const struct mprof_wait_snapshot *s,
                               const struct mprof_wait_groups *g);

#endif // MPROF_RT_WRITE_REPORT_WAIT_H
