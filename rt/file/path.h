// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the paths of output files: expands the patterns in the options log_path
// and alloc_log. If a path does not fit in its buffer, the expansion fails. A
// path is never truncated.

#ifndef MPROF_RT_FILE_PATH_H
#define MPROF_RT_FILE_PATH_H

#include "sys/message.h"

// Maximum length in bytes of an output file's path, including the terminating
// 0.
#define MPROF_PATH_MAX 1024

// Expands %p (process id), %e (program), %h (host), %t (time) and %% in
// pattern. Stores the result in buf, which has cap bytes. If pattern is empty
// or ends in '/', appends the default value of log_path, so that the files are
// in this directory and not hidden. If pattern has no %p, appends ".<pid>", so
// that a child never overwrites its parent's file. Copies any other % unchanged
// and reports this % on stderr. Returns 0, -ENAMETOOLONG or -EPERM.
int mprof_path_expand(char *buf, size_t cap, const char *pattern);
// Expands the option log_path. If log_path is "stderr", expands the option's
// default value instead. Use this function for output that is never written to
// stderr, such as the trace. Returns 0, -ENAMETOOLONG or -EPERM, or -ENODEV if
// log_path is /dev/null, so no file is wanted.
int mprof_path_base(char *buf, size_t cap);
// Returns whether log_path=/dev/null says that no file is to be written.
bool mprof_path_discards_files(void);
// Returns whether the option log_path is stderr.
bool mprof_path_is_stderr(void);
// Expands pattern as mprof_path_expand does, but never appends ".<pid>".
// option: name of the option that contains the pattern, for messages. Stores in
// *has_pid whether the pattern contains %p. Returns -EPERM if the path is
// relative and the program has more rights than its user
// (mprof_flags_is_secure).
int mprof_path_fill(char *buf, size_t cap, const char *option,
                    const char *pattern, bool *has_pid);
// Appends the base name of the program's executable file to t.
void mprof_path_program(struct mprof_text *t);

// Makes the directory of the file at `path`, and the directories above it, if
// they do not exist. On failure does nothing: the caller then cannot open the
// file and reports this. A program that has more rights than its user makes no
// directory. Makes system calls only if the path has a directory.
void mprof_path_make_directory(const char *path);

#endif // MPROF_RT_FILE_PATH_H
