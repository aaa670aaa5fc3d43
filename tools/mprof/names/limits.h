// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits of a process that reads debug information, which may be damaged: how
// much memory and time it may use depends on the size of the files.

#ifndef MPROF_TOOL_LIMITS_H
#define MPROF_TOOL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

// Begins to limit this process. waits: it may wait for a server, so only its
// computing time is limited.
void limits_begin(bool waits);
// Begins a request: the limit of computing time holds from now on.
void limits_renew(void);
// Raises the limits by what a file of this size needs.
void limits_allow(uint64_t size);

#endif
