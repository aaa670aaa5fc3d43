// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/json.h"

#include "common/printable.h"

#include <string.h>

void json_string(FILE *out, const char *text) {
  fputc('"', out);
  while (*text) {
    const size_t n = printable_length(text);
    if (n == 0)
      fputc('?', out);
    else if (*text == '<')
      fputs("\\u003c", out);
    else
      fprintf(out, "%s%.*s", strchr("\"\\", *text) ? "\\" : "", (int)n, text);
    text += n ? n : printable_skip(text);
  }
  fputc('"', out);
}
