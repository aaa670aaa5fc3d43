// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells the reader of the heap profile which memory the profile cannot show:
// allocations of code without MProf, if the program lacks the interceptors, and
// resident memory that no counted block explains. The interceptors replace
// malloc and similar functions, and count the calls from code without MProf.

#ifndef MPROF_RT_WRITE_COVERAGE_H
#define MPROF_RT_WRITE_COVERAGE_H

#include "write/profiles.h"

#include <stdbool.h>

struct mprof_report;

// Returns whether the program was linked without the interceptors, although it
// could have them. Returns false in a program with musl, because the
// interceptors exist only for glibc. Also returns false in a program with a
// sanitizer, and if mprof-clang left the interceptors out on purpose.
bool mprof_coverage_is_linked_without(void);

// Returns whether the heap profile is shown, but lacks the allocations of code
// without MProf, because mprof_coverage_is_linked_without returns true.
bool mprof_coverage_lacks_interceptors(const struct mprof_summary *s);

// Writes the lines of the report about allocations that are not counted.
void mprof_report_not_counted(struct mprof_report *w,
                              const struct mprof_summary *s);

// Writes a hint if the anonymous resident memory is far larger than the blocks
// of the heap profile.
// anonymous: bytes of anonymous memory that are resident, or -1 if unknown.
void mprof_report_unexplained(struct mprof_report *w,
                              const struct mprof_summary *s, int64_t anonymous);

#endif // MPROF_RT_WRITE_COVERAGE_H
