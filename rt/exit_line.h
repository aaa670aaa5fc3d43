// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The line on stderr that names the files written at the end of the process,
// such as "mprof: wrote A (3 samples, 2 stacks) and B". exit.c collects the
// files; this module prints the line.

#ifndef MPROF_RT_EXIT_LINE_H
#define MPROF_RT_EXIT_LINE_H

#include "bucket/custom_profile.h"
#include "file/outfile.h"
#include "sys/message.h"
#include "write/profiles.h"

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

#endif // MPROF_RT_EXIT_LINE_H
