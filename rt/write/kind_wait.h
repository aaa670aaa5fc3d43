// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kind of the profiles block and mutex.

#ifndef MPROF_RT_WRITE_KIND_WAIT_H
#define MPROF_RT_WRITE_KIND_WAIT_H

#include <stdbool.h>

// Returns whether a copy of the kind is worth a file and a section.
bool mprof_wait_copy_is_shown(const void *copy);

#endif // MPROF_RT_WRITE_KIND_WAIT_H
