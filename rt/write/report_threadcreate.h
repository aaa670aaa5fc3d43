// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts of the exit report about the creation of threads: a section,
// and a machine-readable summary line at the end of the report.

#ifndef MPROF_RT_WRITE_REPORT_THREADCREATE_H
#define MPROF_RT_WRITE_REPORT_THREADCREATE_H

struct mprof_report;
struct mprof_threadcreate_snapshot;

// mprof_report_threadcreate writes the section.
// mprof_report_threadcreate_summary writes the machine-readable summary line.
// created: all threads, one sample for each stack.
// threads: the threads that the file of the profile shows, with their names.
void mprof_report_threadcreate(
    struct mprof_report *w, const struct mprof_threadcreate_snapshot *created,
    const struct mprof_threadcreate_snapshot *threads);
void mprof_report_threadcreate_summary(
    struct mprof_report *w, const struct mprof_threadcreate_snapshot *created);

#endif // MPROF_RT_WRITE_REPORT_THREADCREATE_H
