// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the exit report, which people read, from a summary that has been
// taken. The sections of the report are in the report_*.c files.

#ifndef MPROF_RT_WRITE_WRITE_REPORT_H
#define MPROF_RT_WRITE_WRITE_REPORT_H

#include "write/summary.h"

// Writes the report to a new file, which replaces path; to stderr if path is
// NULL. Returns 0 or an errno value. Call with the guard set and writer_lock
// held.
int mprof_write_report(const struct mprof_summary *s, const char *path);

#endif // MPROF_RT_WRITE_WRITE_REPORT_H
