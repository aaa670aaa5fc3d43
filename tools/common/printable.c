// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "common/printable.h"

#include "sys/message.h"

#include <string.h>

// Returns the code point of a valid character of n bytes.
static unsigned decode(const unsigned char *c, size_t n) {
  unsigned value = n == 1 ? c[0] : c[0] & (0x7fu >> n);
  for (size_t i = 1; i < n; i++)
    value = value << 6 | (c[i] & 0x3f);
  return value;
}

static int is_control(unsigned c) {
  return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

size_t printable_length(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  const size_t n = mprof_utf8_length(c, strnlen(text, 4));
  return n > 0 && !is_control(decode(c, n)) ? n : 0;
}

size_t printable_skip(const char *text) {
  const size_t n =
      mprof_utf8_length((const unsigned char *)text, strnlen(text, 4));
  return n > 0 ? n : 1;
}

void printable_put(FILE *out, const char *text, size_t length) {
  while (length > 0) {
    char next[5] = "";
    memcpy(next, text, length < 4 ? length : 4);
    const size_t shown = next[0] ? printable_length(next) : 0;
    const size_t skipped = shown ? shown : printable_skip(next);
    if (shown)
      fwrite(next, 1, shown, out);
    else
      fputc('?', out);
    text += skipped;
    length -= skipped;
  }
}
