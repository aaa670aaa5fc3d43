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
// that case, reports this on stderr and writes nothing.
// flushes: the process is in exit, which will flush stdout. If the line with
//   the file names is printed, stdout is flushed before the line.
void mprof_write_at_exit(bool flushes);
// Returns whether the options ask for any output. log_path=/dev/null asks for
// none.
bool mprof_wants_files(void);
// Writes the output. Call with the guard set and writer_lock held.
void mprof_write_last_locked(void);

#endif // MPROF_RT_EXIT_H
