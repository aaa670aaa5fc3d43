// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares a function of the profiles block and mutex that kind_heap.c calls.

#ifndef MPROF_RT_WRITE_KIND_WAIT_H
#define MPROF_RT_WRITE_KIND_WAIT_H

#include <stdbool.h>

// `copy` is a copy of the data of the block profile or of the mutex profile.
// Returns whether this profile should get a file and a section of the report.
bool mprof_wait_copy_is_shown(const void *copy);

#endif // MPROF_RT_WRITE_KIND_WAIT_H
