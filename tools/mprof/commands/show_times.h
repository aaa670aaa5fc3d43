// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the times of threads in their states.

#ifndef MPROF_TOOL_SHOW_TIMES_H
#define MPROF_TOOL_SHOW_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct times;

// Prints a table of at most `limit` threads to standard output. Threads that
// ran longest come first. The last row is the sum of all threads.
void show_times(const struct times *t, size_t limit);
// Prints the elements of a JSON array with all threads.
void show_times_json(const struct times *t);
// Prints the members of a JSON object, such as "running_ns":5. ns: the times,
// by kind. Waits without time are left out.
void show_times_members(const struct times *t, const uint64_t *ns);

#endif
