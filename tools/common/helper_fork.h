// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the processes that the tools need for themselves. They are not
// profiled, even if the tool itself is.

#ifndef MPROF_TOOLS_COMMON_HELPER_FORK_H
#define MPROF_TOOLS_COMMON_HELPER_FORK_H

#include <sys/types.h>

// Does what fork does. The child is not profiled. In the child, the environment
// has the mark of rt/process/helper_environment.h, but neither MPROF_OPTIONS
// nor MProf's libraries in LD_PRELOAD, so a program that the child executes is
// not profiled either. Call it only while the process has one thread.
pid_t helper_fork(void);

#endif // MPROF_TOOLS_COMMON_HELPER_FORK_H
