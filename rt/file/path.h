// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Paths of output files.

#ifndef MPROF_RT_FILE_PATH_H
#define MPROF_RT_FILE_PATH_H

#include "sys/message.h"

// Longest path of an output file, with its 0.
#define MPROF_PATH_MAX 1024

// Expands %p %e %h %t %% of pattern; appends ".<pid>" if there is no %p, so
// that a child never overwrites its parent's file. Another % is said on stderr
// and kept. 0 or ENAMETOOLONG.
int mprof_path_expand(char *buf, size_t cap, const char *pattern);
// The same of the option log_path, or of its default where that is stderr: what
// is no text has files all the same.
int mprof_path_base(char *buf, size_t cap);
bool mprof_path_is_stderr(void);
// The same for another option, and appends nothing: *has_pid gets whether there
// was a %p.
int mprof_path_fill(char *buf, size_t cap, const char *option,
                    const char *pattern, bool *has_pid);
// The base name of the program's file.
void mprof_path_program(struct mprof_text *t);

#endif // MPROF_RT_FILE_PATH_H
