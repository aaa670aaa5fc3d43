// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory, threads and processor time of a process, as the kernel counts
// them.

#ifndef MPROF_TOOL_PROCESS_USE_H
#define MPROF_TOOL_PROCESS_USE_H

#include <stdbool.h>
#include <stdint.h>

struct process_use {
  int64_t rss, threads, cpu_ns;
};

// Reads the numbers. Returns false if there is no such process.
bool process_use_read(int pid, struct process_use *use);

#endif
