// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the profiler's messages to stderr. The functions may be called
// anywhere, because they neither allocate memory nor take a lock.

#ifndef MPROF_RT_SYS_MESSAGE_H
#define MPROF_RT_SYS_MESSAGE_H

#include "sys/text.h"

// Prints one line to stderr: "mprof: " and the text. A process prints at most
// 16 lines and then one more line, which says that further messages are
// suppressed. Prints nothing if stderr is closed, or if descriptor 2 refers to
// another file than at the runtime's start.
void mprof_message(const char *text);
// Turns all messages off. Called at start if nobody has asked for messages; see
// mprof_flags_init.
void mprof_message_turn_off(void);
// Prints a line as mprof_message does, but even after the limit of 16 lines.
// Used when the process ends.
void mprof_message_always(const char *text);
// These two functions print a line of any length, even after the limit of 16
// lines. mprof_message_begin starts the line in the caller's buffer. The caller
// then appends the text, and mprof_message_end prints the line.
void mprof_message_begin(struct mprof_text *t);
void mprof_message_end(struct mprof_text *t);
// Records to which file stderr refers. Called when the runtime starts.
void mprof_message_init(void);
// Returns whether descriptor 2 still refers to the file that mprof_message_init
// has recorded.
bool mprof_message_has_stderr(void);

#endif // MPROF_RT_SYS_MESSAGE_H
