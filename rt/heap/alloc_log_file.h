// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens, writes and rotates the file of the allocation log. Call all functions
// here at start or with log_lock held. They do not use libc's heap.

#ifndef MPROF_RT_HEAP_ALLOC_LOG_FILE_H
#define MPROF_RT_HEAP_ALLOC_LOG_FILE_H

#include "sys/message.h"

// The beginning of a log's first line.
#define MPROF_LOG_MAGIC "# MProf allocation log"

// Opens the file that the option alloc_log names. is_child tells whether the
// process is a forked child. A child opens no file if the path lacks %p,
// because its parent logs to that file. Returns false, after a message, if the
// file cannot be opened.
bool mprof_log_file_open(bool is_child);
// Returns the file's path after the expansion of %p and other fields.
const char *mprof_log_file_path(void);
// Appends the text t to the file and empties t. Reports an error once and then
// closes the file.
void mprof_log_file_write(struct mprof_text *t);
// Returns whether the file has reached the size alloc_log_mb, so that it must
// be rotated.
bool mprof_log_file_is_full(void);
// Renames the file to PATH.1 and opens a new file. After an error, writes a
// message and returns false.
bool mprof_log_file_rotate(void);
// Closes the descriptor only; neither removes nor renames the file.
void mprof_log_file_forget(void);
bool mprof_log_file_is_open(void);

#endif // MPROF_RT_HEAP_ALLOC_LOG_FILE_H
