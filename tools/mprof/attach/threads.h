// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a running process that has no MProf, or no HTTP server, as a
// profile such as MProf's runtime would write: the stacks of all threads, and
// the threads that can never continue. Each thread is stopped for the moment in
// which its stack is read.

#ifndef MPROF_TOOL_PROCESS_THREADS_H
#define MPROF_TOOL_PROCESS_THREADS_H

#include <stdbool.h>

struct profile;

// Returns the profile "threads", or "threadleak" if only_stuck. On failure,
// returns NULL and stores the reason, which the caller frees.
//
// A thread is stuck if it waits for a mutex, a read-write lock or the end of a
// thread, and the holder waits for it in turn, directly or through others; or
// waits for such a thread; or has ended.
struct profile *process_threads(int pid, bool only_stuck, char **why);

#endif
