// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of the allocation log. All is guarded by the log's lock, or runs at
// start.

#ifndef MPROF_RT_HEAP_ALLOC_LOG_FILE_H
#define MPROF_RT_HEAP_ALLOC_LOG_FILE_H

#include "sys/message.h"

// The first of a log's lines begins so.
#define MPROF_LOG_MAGIC "# MProf allocation log"

// Opens the file that the option names. is_child: of a process that was forked,
// whose file is its parent's unless the path has %p. False, with a message, if
// that cannot be.
bool mprof_log_file_open(bool is_child);
// Its path, with %p and the like filled in.
const char *mprof_log_file_path(void);
// Writes t to its end and empties it. On an error says so, once, and closes it.
void mprof_log_file_write(struct mprof_text *t);
// Whether it has reached alloc_log_mb, and the next part is to begin.
bool mprof_log_file_is_full(void);
// Renames it to PATH.1 and opens a new one. False as above.
bool mprof_log_file_rotate(void);
// Closes the descriptor, and nothing else.
void mprof_log_file_forget(void);
bool mprof_log_file_is_open(void);

#endif // MPROF_RT_HEAP_ALLOC_LOG_FILE_H
