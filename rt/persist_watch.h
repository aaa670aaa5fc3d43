// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's thread that protects the process from other programs that
// truncate the file of the option persist (file/persist.h).

#ifndef MPROF_RT_PERSIST_WATCH_H
#define MPROF_RT_PERSIST_WATCH_H

// Starts the thread if the option is set. Called at start and in a forked
// child.
void mprof_persist_watch_start(void);

#endif // MPROF_RT_PERSIST_WATCH_H
