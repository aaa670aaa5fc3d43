// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints texts, threads, source lines and CPU samples of a trace to standard
// output.

#ifndef MPROF_TOOL_SHOW_PLACE_H
#define MPROF_TOOL_SHOW_PLACE_H

#include "place.h"
#include "sampled.h"

#include <stddef.h>
#include <stdint.h>

void show_text(struct trace_text text);
// Prints the name and the number of a thread, such as "worker G3".
void show_thread(struct trace_text name, uint64_t g);
// Prints "function file:line", with the file's name without directories. Prints
// an address if the function is not known. Omits the file and the line if they
// are not known.
void show_place(const struct place *p);
// Prints the functions with the most CPU samples, and their shares.
void show_sampled(const struct sampled *s);
// Prints a comma, the number of samples and the array of the functions, unless
// there are no samples.
void show_sampled_json(const struct sampled *s);
// Prints a comma, the key, and the source line as a JSON object, or null if it
// is not known.
void show_place_json(const char *key, const struct place *p);

// --- times of threads ---
//
// Prints the times of threads in their states.

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
