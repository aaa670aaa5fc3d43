// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the output at the end of the process: the files of all profiles, the
// trace and the report, as the options ask. Then prints one line with the file
// names to stderr.

#ifndef MPROF_RT_EXIT_H
#define MPROF_RT_EXIT_H

#include "bucket/custom_profile.h"
#include "file/outfile.h"
#include "sys/arch.h"
#include "sys/base.h"
#include "sys/message.h"
#include "write/profiles.h"

enum mprof_end {
  MPROF_END_EXIT,  // the process runs exit(), which will flush stdout
  MPROF_END_OTHER, // the process ends, and stdout may stay unflushed
  // The process is about to execute another program. The exec call may fail.
  MPROF_END_EXEC,
};

// Writes the output. Call if mprof_has_output returns true. Sets the recursion
// guard and takes writer_lock. The guard is already set if a signal handler
// that interrupted the profiler ends the process. In that case, writes no files
// and reports the reason on stderr. With MPROF_END_EXIT, flushes stdout before
// the line with the file names if stdout and stderr are the same file. caller:
// the state of the thread when it called the runtime.
void mprof_write_at_exit(enum mprof_end end, const struct mprof_caller *caller);
// Returns whether mprof_write_at_exit has been called in this process with
// another value than MPROF_END_EXEC. The answer is up to date only while
// writer_lock is held.
bool mprof_has_written_at_end(void);
// Returns whether there is anything to write: the options ask for output, and
// something was recorded. log_path=/dev/null asks for no output. Makes no
// system call, because a seccomp filter may kill a process for it. Needs
// neither the recursion guard nor a lock.
bool mprof_has_output(void);
// Returns whether the process must call mprof_say_no_output if there is nothing
// to write. True if all of these conditions hold: the user has set options in
// the environment, the options ask for output, the option quiet is off, and the
// process is not a forked child. Makes no system call.
bool mprof_must_say_no_output(void);
// Says on stderr that no event was recorded, and why the heap profile would be
// empty.
void mprof_say_no_output(void);
// Writes the output of a process that is about to end. Call with the recursion
// guard set and writer_lock held.
void mprof_write_last_locked(void);
// Writes the same output as mprof_write_last_locked, but for a process that
// continues. The names of the files contain the time.
void mprof_write_snapshot_locked(void);

// --- the line on stderr (exit_line.c) ---
//
// The line on stderr that names the files written at the end of the process,
// such as "mprof: wrote A (3 samples, 2 stacks) and B". exit.c collects the
// files; this module prints the line.

// Maximum number of files that one output writes: a file for each built-in and
// each custom profile, the trace, the allocation log and the report.
enum { MPROF_EXIT_FILES = MPROF_PROFILES + MPROF_CUSTOM_PROFILES + 3 };

// Text about code whose allocations are not counted. It names two ways to link
// the program: the second is for plain clang, which has no -fmprof. The report
// names more ways.
#define MPROF_NOT_COUNTED                                                      \
  "; code without MProf is not counted: link with -fmprof or "                 \
  "mprof-program.cfg"

// The files of one output. If all bytes are 0, there are no files. The struct
// is too large for a stack.
struct mprof_exit_line {
  size_t files;
  struct {
    size_t path, totals; // start of each text in buf; totals 0: no totals
  } v[MPROF_EXIT_FILES];
  struct mprof_text text; // the texts, each with a terminating 0
  char buf[(MPROF_EXIT_FILES + 1) * (MPROF_PATH_MAX + 128)];
};

// Adds a written file, without totals.
void mprof_exit_line_add(struct mprof_exit_line *l, const char *path);
// Returns the text to which the caller then appends the totals of the file that
// was added last, such as "3 samples, 2 stacks".
struct mprof_text *mprof_exit_line_totals(struct mprof_exit_line *l);
// Prints the line, with the counters of lost data that are not 0. Shortens the
// line if it has more than 200 characters.
// base: the part of the paths before the suffixes of the files.
// is_counted: false: appends MPROF_NOT_COUNTED.
// flushes: true: the process runs exit(), which will flush stdout later. In
//   this case, if stdout and stderr are the same file, flushes stdout before
//   the line, so that the program's last output does not come after the line.
void mprof_exit_line_print(const struct mprof_exit_line *l, const char *base,
                           bool is_counted, bool flushes);
// Remembers the program's stdout. Call at start.
void mprof_exit_line_init(void);

#endif // MPROF_RT_EXIT_H
