// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/json.h"

#include "sys/text.h"

#include <string.h>

void json_string(FILE *out, const char *text) {
  const char *end = text + strlen(text);
  fputc('"', out);
  for (size_t n; text < end; text += n) {
    const unsigned char c = (unsigned char)*text;
    n = mprof_utf8_length((const unsigned char *)text, (size_t)(end - text));
    if (n == 0) {
      fputc('?', out);
      n = 1;
    } else if (c < ' ' || c == 0x7f || c == '<') {
      fprintf(out, "\\u%04x", c);
    } else {
      if (c == '"' || c == '\\')
        fputc('\\', out);
      fwrite(text, 1, n, out);
    }
  }
  fputc('"', out);
}
