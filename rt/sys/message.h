// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text built in buffers, and messages on stderr.

#ifndef MPROF_RT_SYS_MESSAGE_H
#define MPROF_RT_SYS_MESSAGE_H

#include "sys/base.h"

// Text built in a caller's buffer, cut at its end, always terminated.
struct mprof_text {
  char *buf;
  size_t cap;
  size_t len;
};
#define MPROF_TEXT(array) {.buf = (array), .cap = sizeof(array), .len = 0}
void mprof_text_str(struct mprof_text *t, const char *s);
void mprof_text_mem(struct mprof_text *t, const char *s, size_t len);
// Text from outside: control characters and what is not UTF-8 become '?', and
// no character is cut in half.
void mprof_text_clean(struct mprof_text *t, const char *s, size_t len);
// Bytes of the UTF-8 character at s, of which len are there; 0 if it is none.
size_t mprof_utf8_length(const unsigned char *s, size_t len);
void mprof_text_dec(struct mprof_text *t, uint64_t v);
void mprof_text_hex(struct mprof_text *t, uint64_t v); // without 0x
// v / 10^digits with that many decimals.
void mprof_text_fixed(struct mprof_text *t, uint64_t v, int digits);
void mprof_text_grouped(struct mprof_text *t, uint64_t v); // 1,234,567
// A point in time: "2024-01-31 23:59:59 UTC", or, for
// names of files, "20240131T235959".
void mprof_text_utc(struct mprof_text *t, int64_t time_ns, bool for_name);
// What an errno value means: "no space left on device".
void mprof_text_errno(struct mprof_text *t, int error);

// One line on stderr, "mprof: " put before it; at most 16 a process, then a
// last one that says so. Nothing if stderr is closed or is not the file that
// it was when the runtime started.
void mprof_message(const char *text);
// As above, but not counted against the 16: what an exit must say.
void mprof_message_always(const char *text);
// The same in a buffer of the caller's, for a text of any length: it is put
// between the two calls.
void mprof_message_begin(struct mprof_text *t);
void mprof_message_end(struct mprof_text *t);
void mprof_message_init(void);
// Whether descriptor 2 is open and the file that it was at mprof_message_init.
bool mprof_message_has_stderr(void);

#endif // MPROF_RT_SYS_MESSAGE_H
