// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools.h"

#include "common/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *trace_tool_name = "mprof trace";

void trace_say(const char *format, ...) {
  char *text;
  va_list args;
  va_start(args, format);
  const int length = vasprintf(&text, format, args);
  va_end(args);
  if (length < 0)
    return;
  printable_put(stderr, text, (size_t)length);
  fputc('\n', stderr);
  free(text);
}
