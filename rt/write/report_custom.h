// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts of the exit report about the profiles that the program
// defines (custom_profile.h): a section for each profile, and a
// machine-readable summary line at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_CUSTOM_H
#define MPROF_RT_WRITE_REPORT_CUSTOM_H

struct mprof_custom_snapshot;
struct mprof_report;

// mprof_report_custom writes the section of a profile.
// mprof_report_custom_summary writes its machine-readable summary line.
void mprof_report_custom(struct mprof_report *w,
                         const struct mprof_custom_snapshot *s);
void mprof_report_custom_summary(struct mprof_report *w,
                                 const struct mprof_custom_snapshot *s);

#endif // MPROF_RT_WRITE_REPORT_CUSTOM_H
