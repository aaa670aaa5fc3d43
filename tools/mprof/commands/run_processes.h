// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processes of the last run in a directory of mprof run. A shell that has
// started the program ends last, but the program is what the user asks about.

#ifndef MPROF_TOOL_RUN_PROCESSES_H
#define MPROF_TOOL_RUN_PROCESSES_H

#include "commands/options.h"
#include "commands/written_files.h"

#include <stdio.h>
#include <time.h>

struct run_process {
  char *stem; // the path of its files up to their kinds: "results/mprof.app.7"
  const char *newest; // one of its last files
  struct timespec written;
  long pid;
};

struct run_processes {
  struct run_process *items; // the one that has done most is first
  size_t count, capacity;
};

// Finds the process that has written the newest file of the directory, and the
// processes that were started after it, as their numbers say, and ended at most
// ten minutes before it. A process has
// done most if it has most stuck threads and locks in cycles, or else if it has
// used most processor time, has allocated most, or has the longest trace.
// Returns no process if the directory has no file of MProf. The paths stay in
// memory.
struct run_processes run_processes_find(const struct options *options,
                                        const char *directory);

// Finds the processes that the program with this number has started, and the
// program, by the files that are new in the directory. The program is first,
// unless it has written no file, or has done next to nothing, as a wrapper such
// as timeout does. before: the names of the files before its start.
struct run_processes run_processes_started(const struct options *options,
                                           const char *directory,
                                           const struct file_names *before,
                                           long program);

// Returns the name of the program, as its files have it, or "". The caller
// frees the text.
char *run_process_name(const struct run_process *p);

// Prints the commands that show the processes from index `first` on, each on a
// line after the indent.
void run_processes_put_commands(const struct run_processes *r, size_t first,
                                const char *indent, FILE *out);

#endif
