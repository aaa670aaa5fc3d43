// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exit report for people. The report has a section for each kind of
// profile, and machine-readable summary lines at the end.

#ifndef MPROF_RT_WRITE_WRITE_REPORT_H
#define MPROF_RT_WRITE_WRITE_REPORT_H

#include <stdbool.h>

struct mprof_outfile;
struct mprof_summary;

// Writes the exit report to f. Returns 0 or the first error of f. The caller
// closes f. Call with the recursion guard set and writer_lock held.
// mprof_write_file can call this function.
// summary: a struct mprof_summary.
int mprof_write_report(struct mprof_outfile *f, void *summary);

// --- memory that the heap profile cannot show ---
//
// The interceptors replace malloc and similar functions, and count the calls
// from code without MProf.

// Returns whether the program was linked without the interceptors, although it
// could have them. Returns false in a program with musl, because the
// interceptors exist only for glibc. Also returns false in a program with a
// sanitizer, and if mprof-clang left the interceptors out on purpose.
bool mprof_coverage_is_linked_without(void);

// Returns whether the heap profile is shown, but lacks the allocations of code
// without MProf, because mprof_coverage_is_linked_without returns true.
bool mprof_coverage_lacks_interceptors(const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_WRITE_REPORT_H
