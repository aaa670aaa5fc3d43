// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells signals that were sent to mprof alone from signals that were sent to
// its process group. A signal does not tell that itself. The watcher is another
// process of the group: it gets the second kind only.

#ifndef MPROF_TOOL_GROUP_WATCHER_H
#define MPROF_TOOL_GROUP_WATCHER_H

#include <stdbool.h>
#include <sys/types.h>

struct group_watcher {
  pid_t pid;
  int ask, answer; // pipes; -1: there is no watcher
};

// Starts the watcher. Call it while all signals are blocked.
void group_watcher_start(struct group_watcher *w);
// Returns whether the whole group got the signal that mprof is handling.
// Returns false if there is no watcher. Signal handlers may call it if they do
// not interrupt each other.
bool group_watcher_has_seen(struct group_watcher *w, int number);
void group_watcher_end(struct group_watcher *w);

#endif
