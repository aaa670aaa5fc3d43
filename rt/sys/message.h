// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text built in buffers without stdio, and the profiler's messages on stderr.
// Nothing here allocates or takes a lock, so all may be called anywhere.

#ifndef MPROF_RT_SYS_MESSAGE_H
#define MPROF_RT_SYS_MESSAGE_H

#include "sys/base.h"

// Text in a buffer of the caller. It is cut at the buffer's end and always
// terminated by a 0.
struct mprof_text {
  char *buf;
  size_t cap;
  size_t len;
};
#define MPROF_TEXT(array) {.buf = (array), .cap = sizeof(array), .len = 0}
void mprof_text_str(struct mprof_text *t, const char *s);
void mprof_text_mem(struct mprof_text *t, const char *s, size_t len);
// Appends text from outside. Control characters and invalid UTF-8 become '?'.
// No character is cut in half.
void mprof_text_clean(struct mprof_text *t, const char *s, size_t len);
// Returns the length in bytes of the UTF-8 character at s, where len bytes are
// readable. Returns 0 if it is not a valid character.
size_t mprof_utf8_length(const unsigned char *s, size_t len);
void mprof_text_dec(struct mprof_text *t, uint64_t v);
void mprof_text_hex(struct mprof_text *t, uint64_t v); // without 0x
// Appends v / 10^digits with that number of decimals.
void mprof_text_fixed(struct mprof_text *t, uint64_t v, int digits);
void mprof_text_grouped(struct mprof_text *t, uint64_t v); // 1,234,567
// Appends a time (nanoseconds of CLOCK_REALTIME) as "2024-01-31 23:59:59 UTC",
// or, for the name of a file, as "20240131T235959".
void mprof_text_utc(struct mprof_text *t, int64_t time_ns, bool for_name);
// Appends the meaning of error (-errno), such as "no space left on device".
void mprof_text_errno(struct mprof_text *t, int error);

// Prints one line to stderr, after "mprof: ". A process prints at most 16
// lines, then a last one that says so. Prints nothing if stderr is closed or is
// not the file that it was when the runtime started.
void mprof_message(const char *text);
// Prints a line that does not count among the 16, at the exit.
void mprof_message_always(const char *text);
// Print a line of any length, which does not count among the 16 either: begin
// starts the line in the caller's buffer, the caller appends the text, and end
// prints the line.
void mprof_message_begin(struct mprof_text *t);
void mprof_message_end(struct mprof_text *t);
// Notes which file stderr is. Called at start.
void mprof_message_init(void);
// Returns whether descriptor 2 is still the file that it was at
// mprof_message_init.
bool mprof_message_has_stderr(void);

#endif // MPROF_RT_SYS_MESSAGE_H
