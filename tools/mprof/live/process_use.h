// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory, threads and processor time of a process, as the kernel counts
// them, without the threads of MProf in it.

#ifndef MPROF_TOOL_PROCESS_USE_H
#define MPROF_TOOL_PROCESS_USE_H

#include <stdbool.h>
#include <stdint.h>

enum { PROCESS_THREAD_NAME = 32 };
// Reads the name of a thread, which ends with a line feed. pid, tid: texts of
// at most 20 bytes. Returns false if there is no such thread.
bool process_thread_name(const char *pid, const char *tid,
                         char name[PROCESS_THREAD_NAME]);

struct process_use {
  int64_t rss, threads, cpu_ns;
};

// Reads the numbers. Returns false if there is no such process.
bool process_use_read(int pid, struct process_use *use);

#endif
