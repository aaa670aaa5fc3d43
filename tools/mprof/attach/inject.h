// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the library of MProf into a running process, and starts it there.

#ifndef MPROF_TOOL_INJECT_H
#define MPROF_TOOL_INJECT_H

#include "attach/target.h"

// Loads the library at `path`, unless it is loaded, and calls mprof_start with
// the options. If an earlier mprof attach was killed, ends its profiling first.
// Returns NULL, or what has gone wrong, which the caller frees. stopped_us
// receives for how long one thread of the process was stopped, in microseconds.
char *inject(const struct target *t, const char *path, const char *options,
             int64_t *stopped_us);

// Ends the profiling of the process, whose HTTP server does not answer. Returns
// NULL, or what has gone wrong, which the caller frees.
char *eject(const struct target *t);

#endif
