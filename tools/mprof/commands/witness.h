// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells signals that were sent to mprof alone from signals that were sent to
// its process group. A signal does not tell that itself. The witness is another
// process of the group: it gets the second kind only.

#ifndef MPROF_TOOL_WITNESS_H
#define MPROF_TOOL_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct witness {
  pid_t pid;
  int ask, answer; // pipes; -1: there is no witness
};

// Starts the witness. Call it while all signals are blocked.
void witness_start(struct witness *w);
// Returns whether the whole group got the signal that mprof is handling.
// Returns false if there is no witness. Signal handlers may call it if they do
// not interrupt each other.
bool witness_has_seen(struct witness *w, int number);
void witness_end(struct witness *w);

#endif
