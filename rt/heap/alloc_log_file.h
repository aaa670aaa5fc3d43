// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of the allocation log: opening, writing and rotation. All functions
// here run at start or with log_lock held. None of them needs libc's heap.

#ifndef MPROF_RT_HEAP_ALLOC_LOG_FILE_H
#define MPROF_RT_HEAP_ALLOC_LOG_FILE_H

#include "sys/message.h"

// The beginning of a log's first line.
#define MPROF_LOG_MAGIC "# MProf allocation log"

// Opens the file that the option names. is_child: the process was forked; its
// parent owns the file unless the path contains %p. Returns false, after a
// message, if the file cannot be opened.
bool mprof_log_file_open(bool is_child);
// Returns the file's path, with %p and other fields expanded.
const char *mprof_log_file_path(void);
// Appends t to the file and empties t. On an error, reports it once and closes
// the file.
void mprof_log_file_write(struct mprof_text *t);
// Returns whether the file has reached alloc_log_mb, so that the next part must
// begin.
bool mprof_log_file_is_full(void);
// Renames the file to PATH.1 and opens a new one. Returns false, after a
// message, on an error.
bool mprof_log_file_rotate(void);
// Closes the descriptor, and does nothing else.
void mprof_log_file_forget(void);
bool mprof_log_file_is_open(void);

#endif // MPROF_RT_HEAP_ALLOC_LOG_FILE_H
