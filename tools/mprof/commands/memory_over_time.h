// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof memory --over-time: several memory profiles of a process as a chart.

#ifndef MPROF_TOOL_MEMORY_OVER_TIME_H
#define MPROF_TOOL_MEMORY_OVER_TIME_H

#include "commands/options.h"

// Shows the files of the options. Returns the exit status.
int memory_over_time(const struct options *options);

#endif
