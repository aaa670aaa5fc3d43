// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the sections of the exit report about the program's own profiles.
// The lines for scripts stand at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_CUSTOM_H
#define MPROF_RT_WRITE_REPORT_CUSTOM_H

struct mprof_report;

// Write the sections, and their lines for scripts. w->sum has the data.
void mprof_report_custom(struct mprof_report *w);
void mprof_report_custom_summary(struct mprof_report *w);

#endif // MPROF_RT_WRITE_REPORT_CUSTOM_H
