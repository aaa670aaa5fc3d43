// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the output at the end of the process: the files of all profiles, the
// trace and the report, as the options ask. Then it prints one line with the
// file names to stderr.

#ifndef MPROF_RT_EXIT_H
#define MPROF_RT_EXIT_H

#include "sys/base.h"

// Writes the output, if there is any. Sets the guard and takes writer_lock. The
// guard is already set if a signal handler that interrupted the profiler ends
// the process. In that case, reports this on stderr and writes nothing. is_end:
// the process ends. If not, it is about to execute another program, which may
// fail.
void mprof_write_at_exit(bool is_end);
// Returns whether mprof_write_at_exit(true) has been called in this process.
// The answer is up to date only while writer_lock is held.
bool mprof_has_written_at_end(void);
// Returns whether there is anything to write: the options ask for output, and
// something was recorded. Makes no system call, because a seccomp filter may
// kill a process for it. Needs neither the guard nor a lock.
bool mprof_has_output(void);
// Returns whether mprof_write_at_exit says on stderr that there is nothing to
// write: the user has set options in the environment, they ask for output, and
// this is not a forked child. Makes no system call.
bool mprof_must_say_no_output(void);
// Writes the output. Call with the guard set and writer_lock held.
void mprof_write_last_locked(void);
// Does the same for a process that continues. The names of the files contain
// the time.
void mprof_write_snapshot_locked(void);

#endif // MPROF_RT_EXIT_H
