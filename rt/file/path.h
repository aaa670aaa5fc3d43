// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the names of output files. Expands the patterns of the options log_path
// and alloc_log. A path that does not fit its buffer is an error; it is never
// truncated.

#ifndef MPROF_RT_FILE_PATH_H
#define MPROF_RT_FILE_PATH_H

#include "sys/message.h"

// Maximum length of an output file's path in bytes, with the terminating 0.
#define MPROF_PATH_MAX 1024

// Expands %p %e %h %t %% of pattern into buf. Appends ".<pid>" if there is no
// %p, so that a child never overwrites its parent's file. Copies any other %
// unchanged and reports it on stderr. Returns 0, -ENAMETOOLONG or -EPERM.
int mprof_path_expand(char *buf, size_t cap, const char *pattern);
// Expands the option log_path. If log_path is stderr, expands the option's
// default name instead: call this for files that are not text, which are never
// written to stderr.
int mprof_path_base(char *buf, size_t cap);
// Returns whether the option log_path is stderr.
bool mprof_path_is_stderr(void);
// Expands pattern like mprof_path_expand, but never appends ".<pid>". option is
// the name of the pattern's option, for messages. Stores in *has_pid whether
// the pattern contains %p. Returns -EPERM if the path is relative and the
// program has more rights than its user (mprof_flags_is_secure).
int mprof_path_fill(char *buf, size_t cap, const char *option,
                    const char *pattern, bool *has_pid);
// Appends the base name of the program's file to t.
void mprof_path_program(struct mprof_text *t);

#endif // MPROF_RT_FILE_PATH_H
