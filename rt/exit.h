// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the output at the end of the process: the files of all profiles, the
// trace and the report, as the options ask. Then it prints one line with the
// file names to stderr.

#ifndef MPROF_RT_EXIT_H
#define MPROF_RT_EXIT_H

#include "sys/base.h"

// Writes the output. Sets the guard and takes writer_lock. The guard is already
// set if a signal handler that interrupted the profiler ends the process. In
// that case, reports this on stderr and writes nothing. is_end: the process
// ends. If not, it is about to execute another program, which may fail.
void mprof_write_at_exit(bool is_end);
// Returns whether mprof_write_at_exit(true) has been called in this process.
// The answer is up to date only while writer_lock is held.
bool mprof_has_written_at_end(void);
// Returns whether the options ask for any output. If not, says so on stderr.
bool mprof_wants_files(void);
// Writes the output. Call with the guard set and writer_lock held.
void mprof_write_last_locked(void);

#endif // MPROF_RT_EXIT_H
