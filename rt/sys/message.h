// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds text in buffers without stdio, hashes strings, and prints messages to
// stderr. The functions may be called anywhere, because they neither allocate
// memory nor take a lock. The command mprof uses them, too.

#ifndef MPROF_RT_SYS_MESSAGE_H
#define MPROF_RT_SYS_MESSAGE_H

#include "sys/base.h"

// Text in a buffer of the caller. Text that does not fit is truncated. The
// buffer always ends with a terminating 0.
struct mprof_text {
  char *buf;
  size_t cap;
  size_t len;
};
#define MPROF_TEXT(array) {.buf = (array), .cap = sizeof(array), .len = 0}
void mprof_text_str(struct mprof_text *t, const char *s);
void mprof_text_mem(struct mprof_text *t, const char *s, size_t len);
// Appends the len bytes at s, which may be any bytes, such as those of a file
// name. Control characters and invalid UTF-8 become '?'. If the text must be
// truncated, it ends after a whole character.
void mprof_text_clean(struct mprof_text *t, const char *s, size_t len);
// Returns the length in bytes of the UTF-8 character at s, or 0 if there is no
// valid character at s. len: number of readable bytes at s.
size_t mprof_utf8_length(const unsigned char *s, size_t len);
void mprof_text_dec(struct mprof_text *t, uint64_t v);
void mprof_text_hex(struct mprof_text *t, uint64_t v); // without 0x
// Appends "NAME (0x7f...)", or "0x7f..." if the name is "".
void mprof_text_address(struct mprof_text *t, const char *name, uint64_t v);
// Appends v / 10^digits as a decimal fraction with `digits` digits after the
// point.
void mprof_text_fixed(struct mprof_text *t, uint64_t v, int digits);
void mprof_text_grouped(struct mprof_text *t, uint64_t v); // 1,234,567
// Appends a size with its unit. is_brief: with three digits, such as "1.50
// MiB", "36.8 MiB" or "700 B", as the tool shows sizes. Otherwise with two
// digits after the point, such as "36.80 MiB".
void mprof_text_size(struct mprof_text *t, uint64_t bytes, bool is_brief);
// Appends a time (nanoseconds of CLOCK_REALTIME) as "2024-01-31 23:59:59 UTC".
// for_name: appends the time as "20240131T235959" instead, for the name of a
// file.
void mprof_text_utc(struct mprof_text *t, int64_t time_ns, bool for_name);
// Appends the description of error (-errno), such as "no space left on device".
void mprof_text_errno(struct mprof_text *t, int error);

// Returns the part of s that follows prefix. Returns NULL if s does not begin
// with prefix.
static inline const char *mprof_text_after(const char *s, const char *prefix) {
  while (*prefix != '\0' && *s == *prefix) {
    s++;
    prefix++;
  }
  return *prefix == '\0' ? s : NULL;
}

// Returns the part of path that follows the last '/'. Returns path if it has no
// '/'.
static inline const char *mprof_text_base_name(const char *path) {
  const char *name = path;
  for (const char *s = path; *s != '\0'; s++)
    if (*s == '/')
      name = s + 1;
  return name;
}

// Copies s with its terminating 0 to `to`. A text of more than size - 1 bytes
// is truncated. size is not 0. Returns the number of copied bytes without the
// 0.
static inline size_t mprof_text_copy(char *to, size_t size, const char *s) {
  size_t len = 0;
  for (; s[len] != '\0' && len < size - 1; len++)
    to[len] = s[len];
  to[len] = '\0';
  return len;
}

// The hash function for strings: FNV-1a with 64 bits. A string can be hashed in
// several pieces. This is the hash of the empty string.
#define MPROF_HASH_EMPTY UINT64_C(0xcbf29ce484222325)
// Returns the hash of a string that consists of some earlier characters and the
// len bytes at s. h: the hash of the earlier characters.
static inline uint64_t mprof_hash(uint64_t h, const char *s, size_t len) {
  for (size_t i = 0; i < len; i++)
    h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
  return h;
}

// --- messages (message.c) ---
//
// Prints the profiler's messages to stderr, and ends the process if an
// assertion of the runtime fails. The functions may be called anywhere, because
// they neither allocate memory nor take a lock.

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
