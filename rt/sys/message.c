// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the profiler's messages to stderr. Each message is written by one
// write call, so that messages of several threads do not mix. No message is
// written if descriptor 2 refers to another file than at the runtime's start.

#include "sys/message.h"

#include "sys/os.h"

#define MAX_MESSAGES 16
#define MAX_LINE 1280

static struct {
  atomic_uint count;     // number of messages printed so far
  uint64_t dev, ino;     // stderr's device and inode; written once
  atomic_bool is_off;    // no message is printed
  _Atomic bool is_known; // stderr was open at the runtime's start
} state;

void mprof_message_init(void) {
  bool is_open = mprof_sys_fstat_id(2, &state.dev, &state.ino) == 0;
  atomic_store_explicit(&state.is_known, is_open, memory_order_release);
}

bool mprof_message_has_stderr(void) {
  return atomic_load_explicit(&state.is_known, memory_order_acquire) &&
         mprof_sys_has_id(2, state.dev, state.ino);
}

void mprof_message_begin(struct mprof_text *t) {
  t->len = 0;
  mprof_text_str(t, "mprof: ");
}

void mprof_message_turn_off(void) { atomic_store(&state.is_off, true); }

void mprof_message_end(struct mprof_text *t) {
  if (atomic_load(&state.is_off) || !mprof_message_has_stderr())
    return;
  // File names and option values in the text may contain any characters.
  // Control characters are replaced by '?', so that each message is one line.
  for (size_t i = 0; i < t->len; i++)
    if ((unsigned char)t->buf[i] < ' ' || t->buf[i] == 0x7f)
      t->buf[i] = '?';
  if (t->len == t->cap - 1)
    t->len--;
  t->buf[t->len++] = '\n';
  mprof_os_write_all(2, t->buf, t->len);
}

void mprof_message_always(const char *text) {
  char line[MAX_LINE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_message_begin(&t);
  mprof_text_str(&t, text);
  mprof_message_end(&t);
}

void mprof_message(const char *text) {
  unsigned n = atomic_fetch_add_explicit(&state.count, 1, memory_order_relaxed);
  if (n < MAX_MESSAGES)
    mprof_message_always(text);
  else if (n == MAX_MESSAGES)
    mprof_message_always("further messages are suppressed");
}

#ifndef NDEBUG
// The message goes to descriptor 2 even if the program has replaced stderr,
// because a failed assertion must not stay silent.
_Noreturn void mprof_assert_failed(const char *cond, const char *file,
                                   int line) {
  char text[512];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "mprof: assertion failed: ");
  mprof_text_str(&t, cond);
  mprof_text_str(&t, " at ");
  mprof_text_str(&t, file);
  mprof_text_str(&t, ":");
  mprof_text_dec(&t, (uint64_t)line);
  mprof_text_str(&t, "\n");
  mprof_os_write_all(2, t.buf, t.len);
  __builtin_trap();
}
#endif
