// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens, writes and rotates the file of the allocation log. Call the functions
// of this file only at the start of the process or with log_lock held. None of
// these functions uses libc's heap.

#ifndef MPROF_RT_HEAP_ALLOC_LOG_FILE_H
#define MPROF_RT_HEAP_ALLOC_LOG_FILE_H

#include "sys/message.h"

// Beginning of the first line of each log, by which an earlier log is
// recognized.
#define MPROF_LOG_MAGIC "# MProf allocation log"

// Opens the file that the option alloc_log names. is_child tells whether the
// process is a forked child. A child opens no file if the path lacks %p,
// because its parent writes to the same path. If the file cannot be opened,
// reports the error on stderr and returns false.
bool mprof_log_file_open(bool is_child);
// Returns the file's path after the expansion of %p and other fields.
const char *mprof_log_file_path(void);
// Appends the text t to the file and empties t. After an error, reports the
// error on stderr and closes the file, so that no further error is reported.
void mprof_log_file_write(struct mprof_text *t);
// Returns whether the file has reached the size of the option alloc_log_mb. The
// caller must then rotate the file.
bool mprof_log_file_is_full(void);
// Renames the file to PATH.1 and opens a new file. After an error, reports the
// error on stderr and returns false.
bool mprof_log_file_rotate(void);
// Closes the descriptor of the log file. The file keeps its name and contents.
void mprof_log_file_forget(void);
bool mprof_log_file_is_open(void);

#endif // MPROF_RT_HEAP_ALLOC_LOG_FILE_H
