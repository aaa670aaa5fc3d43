// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start and end of the runtime, and its parts that act by themselves: signal
// handlers and the thread that watches. The runtime's constructor starts the
// runtime, unless an earlier event has already started it. In a forked child,
// the runtime is started again. The runtime's destructor writes the output at
// the end of the process. The functions below write the output before _exit and
// exec (entry_leave.c), which run no destructors.

#ifndef MPROF_RT_INIT_H
#define MPROF_RT_INIT_H

#include "sys/base.h"

// Writes the output if the option dump_on__exit asks for it. Call before the
// program ends the process by a function that runs no destructors, such as
// _exit.
void mprof_write_before_end(void);
// Writes the output if the option dump_on_exec asks for it, but only at the
// first call. Call this before the program calls exec, which may fail.
void mprof_write_before_exec(void);

// --- signals (signals.c) ---
//
// Handlers of signals on which the runtime writes profiles. If the program has
// a handler of such a signal, that handler runs afterwards (process.h).

// Installs handlers for the signals of the option dump_on_signal. Called at
// start.
void mprof_signals_init(void);

// --- the thread that watches (watch.c) ---
//
// The runtime's threads that watch the process, for the options stuck_report,
// snapshot_every, snapshot_at_rss and persist.

// Starts the threads that the options ask for. Called at start and in a forked
// child.
void mprof_watch_start(void);

// Tells the thread that looks for stuck threads to end. It begins no report
// afterwards.
void mprof_stuck_watch_stop(void);
// Says on stderr that no stuck thread was found, if the user has set the option
// stuck_report, and no other output at exit says it. Call this after
// mprof_stuck_watch_stop. Prints nothing in a forked child.
void mprof_stuck_watch_say_none(void);
// Tells the thread that writes snapshots to end. It begins no snapshot
// afterwards.
void mprof_snapshot_watch_stop(void);

// --- for tests ---

// Returns the seconds of a time such as 60, 60s, 5m or 1h. Returns 0 if the
// text is no time.
uint64_t mprof_snapshot_seconds(const char *s);
// Stores the sizes of a list such as 80%+500m in bytes[], which has room for
// `room` sizes, in ascending order. limit: the size of 100 %. Returns their
// number, or -1 if a word is no size.
int mprof_snapshot_sizes(const char *s, uint64_t limit, uint64_t *bytes,
                         int room);
// Returns the smallest memory limit in bytes of the process's cgroup and of the
// cgroups above it. proc: the text of /proc/self/cgroup. root: directory where
// the file system is mounted. Returns UINT64_MAX if there is no limit.
uint64_t mprof_cgroup_limit_in(const char *proc, const char *root);

#endif // MPROF_RT_INIT_H
