// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares a function of the profiles block and mutex that kind_heap.c calls.

#ifndef MPROF_RT_WRITE_KIND_WAIT_H
#define MPROF_RT_WRITE_KIND_WAIT_H

#include <stdbool.h>

// Returns whether the profile of this copy should get a file and a section of
// the report. copy: the copy of the block profile or of the mutex profile.
bool mprof_wait_copy_is_shown(const void *copy);

#endif // MPROF_RT_WRITE_KIND_WAIT_H
