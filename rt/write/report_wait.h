// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A section of the report, and its lines for scripts.

#ifndef MPROF_RT_WRITE_REPORT_WAIT_H
#define MPROF_RT_WRITE_REPORT_WAIT_H

struct mprof_report;
struct mprof_wait_snapshot;
struct mprof_wait_stacks;

// The block or the mutex profile, by the type of the snapshot.
void mprof_report_wait(struct mprof_report *w,
                       const struct mprof_wait_snapshot *s,
                       const struct mprof_wait_stacks *g);
void mprof_report_wait_summary(struct mprof_report *w,
                               const struct mprof_wait_snapshot *s,
                               const struct mprof_wait_stacks *g);

#endif // MPROF_RT_WRITE_REPORT_WAIT_H
