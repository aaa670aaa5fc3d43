// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile kind of the profiles block and mutex.

#ifndef MPROF_RT_WRITE_KIND_WAIT_H
#define MPROF_RT_WRITE_KIND_WAIT_H

#include <stdbool.h>

// Returns whether the profile of this copy should get a file and a section of
// the report.
bool mprof_wait_copy_is_shown(const void *copy);

#endif // MPROF_RT_WRITE_KIND_WAIT_H
