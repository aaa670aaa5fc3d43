// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the sections of the exit report about the program's own profiles. The
// machine-readable summary lines are at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_CUSTOM_H
#define MPROF_RT_WRITE_REPORT_CUSTOM_H

struct mprof_custom_snapshot;
struct mprof_report;

// mprof_report_custom writes the section, mprof_report_custom_summary the
// machine-readable summary line.
void mprof_report_custom(struct mprof_report *w,
                         const struct mprof_custom_snapshot *s);
void mprof_report_custom_summary(struct mprof_report *w,
                                 const struct mprof_custom_snapshot *s);

#endif // MPROF_RT_WRITE_REPORT_CUSTOM_H
