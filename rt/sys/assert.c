// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the message of a failed assertion; see assert.h. The message goes to
// descriptor 2 even if the program has replaced stderr, because a failed
// assertion must not stay silent.

#include "sys/assert.h"

#include "sys/message.h"
#include "sys/os_linux.h"

#ifndef NDEBUG
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
