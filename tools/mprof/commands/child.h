// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that mprof run runs. The program keeps the standard streams, and
// mprof stands in for it: a signal that is sent to mprof reaches the program,
// and mprof stops and ends as the program does.

#ifndef MPROF_TOOL_CHILD_H
#define MPROF_TOOL_CHILD_H

#include <sys/types.h>

struct child {
  pid_t pid;
  int status; // of waitpid, when the program has ended
};

// Runs argv[0], and waits for its end. options: the value of MPROF_OPTIONS.
// preload: the value of LD_PRELOAD, or NULL if the variable stays as it is.
// Returns 0, or an errno value if the program could not be run.
int child_run(char *const *argv, const char *options, const char *preload,
              struct child *child);
// Ends mprof by the signal that ended the program, or returns the program's
// exit status.
int child_end_as(const struct child *child);

#endif
