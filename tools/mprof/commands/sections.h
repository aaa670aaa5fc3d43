// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sections of mprof explain that other commands print: each command shares
// its tables. A section has a title, a sentence, and the first rows; `limit` is
// the number of rows, or 0 for all.

#ifndef MPROF_TOOL_SECTIONS_H
#define MPROF_TOOL_SECTIONS_H

#include "commands/options.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Prints the waiters beside the holders (mprof locks). The view has lines.
void locks_section(const struct view *v, size_t limit);

// Prints the stacks of stuck threads, each with the lock that its threads wait
// for and the thread that holds it (mprof stuck).
void stuck_section(const struct view *v, size_t limit, FILE *out);

// Prints the cycles of threads that wait for one another, from a report of
// stuck threads: for what each thread waits, and where it has taken the lock
// for which another waits. Returns false if the file has no cycle.
bool cycles_section(const struct options *o, const char *path, size_t limit);

// Prints the values of the program's label `index`, which are sorted by name
// (mprof labels). Returns false if the program has fewer labels.
bool labels_section(const struct view *v, size_t index, size_t limit);

// Prints how long the tasks of the trace took (mprof latency). Returns false
// without a message if the trace has no tasks, or cannot be read.
bool latency_section(const char *path, size_t limit);

#endif
