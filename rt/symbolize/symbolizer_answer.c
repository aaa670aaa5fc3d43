// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the answers of llvm-symbolizer; see symbolizer_answer.h. An answer is
//     {"Address":"0x1149","ModuleName":"/bin/app","Symbol":[
//       {"FunctionName":"f","FileName":"/src/a.c","Line":3,"StartLine":1,...},
//       {"FunctionName":"main","FileName":"/src/a.c","Line":9,...}]}
// without the line breaks. Each object at depth 2 is a frame.

#include "symbolize/symbolizer_answer.h"

#include "symbolize/source_path.h"

#include <string.h>

enum { KEY_SIZE = 32, NAME_SIZE = 16384, FRAME_DEPTH = 2 };

// The helper process has only one thread, so the buffers are static.
static struct {
  char key[KEY_SIZE]; // the JSON key that was read last
  char function[NAME_SIZE], file[NAME_SIZE];
  uint64_t line, start_line;
} frame;

static void clear_frame(void) {
  frame.key[0] = frame.function[0] = frame.file[0] = '\0';
  frame.line = frame.start_line = 0;
}

// Appends the character c. A control character would end a line or a field of
// MProf's output files, so this function writes its octal number instead.
static void put_char(struct mprof_text *t, char c) {
  const unsigned char u = (unsigned char)c;
  if (u >= 0x20 && u != 0x7f) {
    mprof_text_mem(t, &c, 1);
    return;
  }
  const char octal[] = {'\\', (char)('0' + u / 64), (char)('0' + u / 8 % 8),
                        (char)('0' + u % 8)};
  mprof_text_mem(t, octal, sizeof(octal));
}

// Appends the character whose code is the number in the four hexadecimal digits
// at p. llvm-symbolizer writes only control characters in this way.
static void put_number(struct mprof_text *t, const char *p) {
  unsigned v = 0;
  for (int i = 0; i < 4; i++) {
    const char c = p[i];
    const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                  : 16;
    v = v << 4 | (digit & 15);
  }
  put_char(t, v < 0x80 ? (char)v : '?');
}

// Decodes the JSON string at p into t. p is behind the opening quote. Returns a
// pointer behind the closing quote, or to the end of the answer.
static const char *take_string(const char *p, struct mprof_text *t) {
  static const char escapes[] = "\bb\ff\nn\rr\tt";
  t->len = 0;
  t->buf[0] = '\0';
  for (; *p != '\0' && *p != '"'; p++) {
    if (*p != '\\') {
      put_char(t, *p);
      continue;
    }
    if (*++p == '\0')
      return p;
    if (*p == 'u' && strnlen(p, 5) == 5) {
      put_number(t, p + 1);
      p += 4;
      continue;
    }
    char c = *p;
    for (const char *e = escapes; *e != '\0'; e += 2)
      if (e[1] == *p)
        c = e[0];
    put_char(t, c);
  }
  return *p == '\0' ? p : p + 1;
}

static void put_field(struct mprof_text *out, const char *s) {
  static const char separator = MPROF_FRAME_SEPARATOR;
  mprof_text_str(out, s);
  mprof_text_mem(out, &separator, 1);
}

static void put_frame(struct mprof_text *out) {
  enum { DIGITS = 48 }; // two numbers, the separators and the null byte
  if (frame.function[0] == '\0' ||
      strlen(frame.function) + strlen(frame.file) + DIGITS >
          out->cap - out->len)
    return;
  mprof_source_path(frame.file);
  put_field(out, frame.function);
  put_field(out, frame.file);
  mprof_text_dec(out, frame.line);
  put_field(out, "");
  mprof_text_dec(out, frame.start_line);
  out->len++; // keep the null byte that ends the string
}

// Reads the string at p, which is a key if a colon follows. Stores a value if
// its key is one of a frame's keys.
static const char *take_key_or_value(const char *p, int depth) {
  static char ignored[KEY_SIZE];
  struct mprof_text t = MPROF_TEXT(ignored);
  if (depth == FRAME_DEPTH && strcmp(frame.key, "FunctionName") == 0)
    t = (struct mprof_text)MPROF_TEXT(frame.function);
  else if (depth == FRAME_DEPTH && strcmp(frame.key, "FileName") == 0)
    t = (struct mprof_text)MPROF_TEXT(frame.file);
  else if (frame.key[0] == '\0')
    t = (struct mprof_text)MPROF_TEXT(frame.key);
  return take_string(p, &t);
}

static const char *take_number(const char *p) {
  uint64_t v = 0;
  for (; *p >= '0' && *p <= '9'; p++)
    v = v * 10 + (uint64_t)(*p - '0');
  if (strcmp(frame.key, "Line") == 0)
    frame.line = v;
  else if (strcmp(frame.key, "StartLine") == 0)
    frame.start_line = v;
  return p;
}

void mprof_symbolizer_answer(const char *answer, struct mprof_text *out) {
  int depth = 0; // nesting of objects
  const char *p = answer;
  clear_frame();
  while (*p != '\0') {
    const char c = *p++;
    if (c == '"') {
      p = take_key_or_value(p, depth);
    } else if (c >= '0' && c <= '9') {
      p = take_number(p - 1);
    } else if (c == '{') {
      depth++;
      clear_frame();
    } else if (c == '}') {
      if (depth-- == FRAME_DEPTH)
        put_frame(out);
      clear_frame();
    } else if (c == ',' || c == '[') {
      frame.key[0] = '\0'; // the next string is a key
    }
  }
}
