// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the profiler's messages to stderr, and ends the process if an
// assertion of the runtime fails. The functions may be called anywhere, because
// they neither allocate memory nor take a lock.

#ifndef MPROF_RT_SYS_MESSAGE_H
#define MPROF_RT_SYS_MESSAGE_H

#include "sys/base.h"
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

// --- assertions ---

// Assertions of the runtime's invariants. The assertions are checked only in
// builds without NDEBUG, such as the preset `dev`. Do not use MPROF_ASSERT in
// headers. Tests compile the headers without NDEBUG but link the release build,
// which lacks mprof_assert_failed.

// Ends the process with a message if cond is false. A release build does not
// evaluate cond.
#ifdef NDEBUG
#define MPROF_ASSERT(cond) ((void)sizeof((cond) ? 1 : 0))
#else
#define MPROF_ASSERT(cond)                                                     \
  (mprof_likely(cond) ? (void)0                                                \
                      : mprof_assert_failed(#cond, __FILE__, __LINE__))

// Prints the text of the assertion with its file and line to stderr, and ends
// the process.
_Noreturn void mprof_assert_failed(const char *cond, const char *file,
                                   int line);
#endif

#endif // MPROF_RT_SYS_MESSAGE_H
