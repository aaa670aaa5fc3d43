// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exit report for people. The report has a section for each kind of
// profile, and machine-readable summary lines at the end.

#ifndef MPROF_RT_WRITE_WRITE_REPORT_H
#define MPROF_RT_WRITE_WRITE_REPORT_H

struct mprof_outfile;
struct mprof_summary;

// Writes the exit report to f. Returns 0 or the first error of f. The caller
// closes f. Call with the recursion guard set and writer_lock held.
int mprof_write_report(struct mprof_outfile *f, const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_WRITE_REPORT_H
