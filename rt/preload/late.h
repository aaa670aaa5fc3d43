// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmprof_preload.so in a process that loads it by dlopen, such as one to
// which `mprof attach` attaches. The loader has already bound the calls of all
// modules, so the library changes the modules' references to libc's functions
// (process/modules.h) when profiling starts, and changes them back when it
// stops.

#ifndef MPROF_RT_PRELOAD_LATE_H
#define MPROF_RT_PRELOAD_LATE_H

// Returns the definition of the function that the program's calls reach without
// MProf, or NULL. Takes the loader's lock.
void *mprof_late_find(const char *name);

#endif // MPROF_RT_PRELOAD_LATE_H
