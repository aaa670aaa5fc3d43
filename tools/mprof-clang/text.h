// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes texts, such as paths. This program never frees them, because it soon
// becomes clang.

#ifndef MPROF_TOOLS_MPROF_CLANG_TEXT_H
#define MPROF_TOOLS_MPROF_CLANG_TEXT_H

#include <err.h>
#include <stdarg.h>
#include <stdio.h>

// Returns the text that printf would print.
__attribute__((format(printf, 1, 2))) static inline char *
text_of(const char *format, ...) {
  va_list values;
  char *text;
  va_start(values, format);
  if (vasprintf(&text, format, values) < 0)
    err(1, "error");
  va_end(values);
  return text;
}

#endif // MPROF_TOOLS_MPROF_CLANG_TEXT_H
