// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A section of the report, and its lines for scripts.

#ifndef MPROF_RT_WRITE_REPORT_THREADCREATE_H
#define MPROF_RT_WRITE_REPORT_THREADCREATE_H

struct mprof_report;
struct mprof_thread_snapshot;

// created: all threads, by stack; threads: those of the file, with their names.
void mprof_report_threadcreate(struct mprof_report *w,
                               const struct mprof_thread_snapshot *created,
                               const struct mprof_thread_snapshot *threads);
void mprof_report_threadcreate_summary(
    struct mprof_report *w, const struct mprof_thread_snapshot *created);

#endif // MPROF_RT_WRITE_REPORT_THREADCREATE_H
