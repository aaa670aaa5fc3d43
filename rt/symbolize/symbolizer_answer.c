// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the answers of llvm-symbolizer; see symbolizer_answer.h. An answer is
//     {"Address":"0x1149","ModuleName":"/bin/app","Symbol":[
//       {"FunctionName":"f","FileName":"/src/a.c","Line":3,"StartLine":1,...},
//       {"FunctionName":"main","FileName":"/src/a.c","Line":9,...}]}
// without the line breaks. Each object at depth 2 is a frame.

#include "symbolize/symbolizer_answer.h"

#include "symbolize/cut_name.h"
#include "symbolize/source_path.h"

#include <string.h>

enum { KEY_SIZE = 32, PATH_SIZE = 16384, FRAME_DEPTH = 2 };

// The helper process has only one thread, so the buffers are static.
static struct {
  char key[KEY_SIZE]; // the JSON key that was read last
  char *function;     // in the answer, which is decoded in place
  char file[PATH_SIZE];
  uint64_t line, start_line;
} frame;
static size_t frames_left; // frames whose end was not read yet
static size_t places;      // how many more frames may be put

static void clear_frame(void) {
  static char none[] = "";
  frame.key[0] = frame.file[0] = '\0';
  frame.function = none;
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

// Appends the character at p, which may be an escape sequence, and returns the
// end of it.
static char *take_char(char *p, struct mprof_text *t) {
  static const char escapes[] = "\bb\ff\nn\rr\tt";
  if (*p != '\\') {
    put_char(t, *p);
    return p + 1;
  }
  if (*++p == '\0')
    return p;
  if (*p == 'u' && strnlen(p, 5) == 5) {
    put_number(t, p + 1);
    return p + 5;
  }
  char c = *p;
  for (const char *e = escapes; *e != '\0'; e += 2)
    if (e[1] == *p)
      c = e[0];
  put_char(t, c);
  return p + 1;
}

// Decodes the JSON string at p into t. p is behind the opening quote. Returns a
// pointer behind the closing quote, or to the end of the answer.
static char *take_string(char *p, struct mprof_text *t) {
  t->len = 0;
  t->buf[0] = '\0';
  while (*p != '\0' && *p != '"')
    p = take_char(p, t);
  return *p == '\0' ? p : p + 1;
}

// Decodes the JSON string at p in place, because it may have megabytes.
// Otherwise does what take_string does. Writes a question mark for a character
// that takes more bytes than its escape sequence.
static char *take_in_place(char *p) {
  char *to = p, *from = p;
  while (*from != '\0' && *from != '"') {
    char decoded[8] = "";
    struct mprof_text t = MPROF_TEXT(decoded);
    from = take_char(from, &t);
    if (t.len > (size_t)(from - to)) {
      *to++ = '?';
      continue;
    }
    memcpy(to, decoded, t.len);
    to += t.len;
  }
  from += *from != '\0';
  *to = '\0';
  return from;
}

static void put_field(struct mprof_text *out, const char *s) {
  static const char separator = MPROF_FRAME_SEPARATOR;
  mprof_text_str(out, s);
  mprof_text_mem(out, &separator, 1);
}

static void become_mark(void) {
  static char mark[] = MPROF_CUT_MARK;
  clear_frame();
  frame.function = mark;
}

// Appends the frame, with the room that remains if each of the frames that
// follow has its share.
static void put_frame(struct mprof_text *out) {
  enum { REST = 48 }; // two numbers, the separators and the null byte
  frames_left -= frames_left > 0;
  if (frame.function[0] == '\0' || places == 0)
    return;
  places--;
  if (places == 0 && frames_left > 0)
    become_mark(); // stands for all frames that follow, too
  mprof_source_path(frame.file);
  mprof_cut_frame(frame.function, frame.file,
                  mprof_cut_room(out->cap - 1 - out->len,
                                 frames_left < places ? frames_left : places) -
                      REST);
  put_field(out, frame.function);
  put_field(out, frame.file);
  mprof_text_dec(out, frame.line);
  put_field(out, "");
  mprof_text_dec(out, frame.start_line);
  out->len++; // keep the null byte that ends the string
}

// Reads the string at p, which is a key if a colon follows. Stores a value if
// its key is one of a frame's keys.
static char *take_key_or_value(char *p, int depth) {
  static char ignored[KEY_SIZE];
  struct mprof_text t = MPROF_TEXT(ignored);
  if (depth == FRAME_DEPTH && strcmp(frame.key, "FunctionName") == 0) {
    frame.function = p;
    return take_in_place(p);
  }
  if (depth == FRAME_DEPTH && strcmp(frame.key, "FileName") == 0)
    t = (struct mprof_text)MPROF_TEXT(frame.file);
  else if (frame.key[0] == '\0')
    t = (struct mprof_text)MPROF_TEXT(frame.key);
  return take_string(p, &t);
}

static char *take_number(char *p) {
  uint64_t v = 0;
  for (; *p >= '0' && *p <= '9'; p++)
    v = v * 10 + (uint64_t)(*p - '0');
  if (strcmp(frame.key, "Line") == 0)
    frame.line = v;
  else if (strcmp(frame.key, "StartLine") == 0)
    frame.start_line = v;
  return p;
}

// Returns the number of frames. If the end of the answer is missing, counts two
// more: one that is not complete, and the mark.
static size_t count_frames(const char *p) {
  size_t n = 0;
  int depth = 0;
  for (; *p != '\0'; p++) {
    if (*p == '"') {
      for (p++; *p != '\0' && *p != '"'; p++)
        p += *p == '\\' && p[1] != '\0';
      if (*p == '\0')
        break;
    }
    n += *p == '}' && depth == FRAME_DEPTH;
    depth += (*p == '{') - (*p == '}');
  }
  return depth >= FRAME_DEPTH ? n + 2 : n;
}

void mprof_symbolizer_answer(char *answer, struct mprof_text *out) {
  int depth = 0; // nesting of objects
  char *p = answer;
  frames_left = count_frames(answer);
  places = MPROF_CUT_FRAMES;
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
  if (depth < FRAME_DEPTH)
    return;
  put_frame(out);
  become_mark();
  put_frame(out);
}
