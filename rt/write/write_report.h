// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exit report.

#ifndef MPROF_RT_WRITE_WRITE_REPORT_H
#define MPROF_RT_WRITE_WRITE_REPORT_H

#include "write/summary.h"

// The exit report. path NULL: to stderr.
int mprof_write_report(const struct mprof_summary *s, const char *path);

#endif // MPROF_RT_WRITE_WRITE_REPORT_H
