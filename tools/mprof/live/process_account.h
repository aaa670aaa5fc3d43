// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a running process that has no MProf, or no HTTP server: its
// account (memory/account.h) as a profile, as MProf's runtime would write it,
// but without stacks.

#ifndef MPROF_TOOL_PROCESS_ACCOUNT_H
#define MPROF_TOOL_PROCESS_ACCOUNT_H

struct profile;

// Returns the profile of a process. The caller frees it. On failure, returns
// NULL and stores the negative error number in *error. The process is not
// stopped.
struct profile *process_account(int pid, int *error);
// Adds the command of the process to the profile, as a comment.
void process_add_command(struct profile *p, int pid);

#endif
