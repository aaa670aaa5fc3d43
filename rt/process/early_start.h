// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the runtime before its own constructor. Only libmprof_preload.so
// contains this file.

#ifndef MPROF_RT_PROCESS_EARLY_START_H
#define MPROF_RT_PROCESS_EARLY_START_H

#include <stdbool.h>

// Starts the runtime if libc itself has started, and returns whether it has
// started. For the interceptors of the preloaded library: the loader calls them
// first, then libc's constructor, then those of other libraries, and only then
// that of the preloaded library. In an inert runtime, costs little. NULL in
// other programs.
extern bool mprof_init_start_early(void)
    __attribute__((weak, visibility("hidden")));

#endif // MPROF_RT_PROCESS_EARLY_START_H
