// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes label sets as text, in Go's format and with Go's quoting. (Go:
// LabelSet.String, strconv.Quote)

#include "thread/labels.h"

#include "sys/message.h"

#include <string.h>

// --- printable characters ---

// The printable characters of Unicode 15.0.0, as Go defines them: letters,
// marks, numbers, punctuation, symbols and the blank.
// utils/unicode/printable.go makes this table. (Go: strconv.IsPrint)
//
// Lengths of runs: unprintable characters, then printable characters, and so
// on. The last run is unprintable, and is left out. A length has 7 bits in each
// byte, the lowest bits first. Bit 7 means that another byte follows.
// clang-format off
static const unsigned char runs[] = {
32,95,34,12,1,202,5,2,6,4,7,1,1,1,20,1,141,3,1,38,2,50,2,3,1,55,8,27,4,6,17,22,
1,192,1,1,48,2,59,2,101,14,59,2,49,2,15,1,28,2,1,1,11,5,31,9,74,1,161,1,1,8,2,2,
2,22,1,7,1,1,3,4,2,9,2,2,2,4,8,1,4,2,1,5,2,25,2,3,1,6,4,2,2,22,1,7,1,2,1,2,1,2,
2,1,1,5,4,2,2,3,3,1,7,4,1,1,7,17,10,3,1,9,1,3,1,22,1,7,1,2,1,5,2,10,1,3,1,3,2,1,
15,4,2,12,7,7,1,3,1,8,2,2,2,22,1,7,1,2,1,5,2,9,2,2,2,3,7,3,4,2,1,5,2,18,10,2,1,
6,3,3,1,4,3,2,1,1,1,2,3,2,3,3,3,12,4,5,3,3,1,4,2,1,6,1,14,21,5,13,1,3,1,23,1,16,
2,9,1,3,1,4,7,2,1,3,2,1,2,4,2,10,7,22,1,3,1,23,1,10,1,5,2,9,1,3,1,4,7,2,6,2,1,4,
2,10,1,3,12,13,1,3,1,51,1,3,1,6,4,16,2,26,1,3,1,18,3,24,1,9,1,1,2,7,3,1,4,6,1,1,
1,8,6,10,2,3,12,58,4,29,37,2,1,1,1,5,1,24,1,1,1,23,2,5,1,1,1,7,1,10,2,4,32,72,1,
36,4,39,1,36,1,15,1,13,37,198,1,1,1,5,1,2,249,2,1,4,2,7,1,1,1,4,2,41,1,4,2,33,1,
4,2,7,1,1,1,4,2,15,1,57,1,4,2,67,2,32,3,26,6,86,2,6,2,128,5,1,28,3,89,7,22,9,24,
9,20,12,13,1,3,1,2,12,94,2,10,6,10,6,14,1,11,6,89,7,43,5,70,10,31,1,12,4,12,4,1,
3,42,2,5,11,44,4,26,6,11,3,62,2,65,1,29,2,11,6,10,6,14,2,31,49,77,3,47,1,116,8,
60,3,15,3,60,7,43,2,11,8,43,5,150,4,2,6,2,38,2,6,2,8,1,1,1,1,1,1,1,31,2,53,1,15,
1,14,2,6,1,19,2,3,1,9,17,24,8,47,17,2,2,27,1,13,3,33,15,33,15,140,1,4,151,5,25,
11,21,148,14,2,32,1,221,2,5,45,1,1,5,1,2,56,7,2,14,24,9,7,1,7,1,7,1,7,1,7,1,7,1,
7,1,7,1,126,34,26,1,89,12,214,1,26,12,5,63,1,86,2,103,5,43,1,94,1,84,12,47,1,
237,228,1,3,55,9,220,2,20,184,1,8,203,1,5,2,1,1,1,5,24,59,3,10,6,56,8,70,8,12,6,
116,11,30,3,78,1,11,4,33,1,55,9,14,2,10,2,103,24,28,10,6,2,6,2,6,9,7,1,7,1,60,4,
126,2,10,6,164,87,12,23,4,49,132,66,238,2,2,106,38,7,12,5,5,26,1,5,1,1,1,2,1,2,
1,125,16,189,3,2,54,7,1,32,42,6,51,1,19,1,4,4,5,1,135,1,4,190,1,3,6,2,6,2,6,2,3,
3,7,1,7,13,2,2,12,1,26,1,19,1,2,1,15,2,14,34,123,5,3,4,45,3,88,1,13,3,1,47,46,
130,1,29,3,49,15,28,4,36,9,30,5,43,5,30,1,37,4,14,42,158,1,2,10,6,36,4,36,4,40,
8,52,11,12,1,15,1,7,1,2,1,11,1,15,1,7,1,2,67,183,2,9,22,10,8,24,6,1,42,1,9,69,6,
2,1,1,44,1,2,3,1,2,23,1,72,8,9,48,19,1,2,5,33,3,27,5,1,64,56,4,20,2,50,1,2,5,8,
1,3,1,29,2,3,4,10,7,9,7,64,32,39,4,12,9,54,3,29,2,27,5,26,7,4,12,7,80,73,55,51,
13,51,7,46,8,10,166,2,31,1,42,1,3,2,2,75,43,8,42,22,26,38,28,20,23,9,78,4,36,9,
62,1,5,13,25,7,10,6,53,1,18,8,39,9,96,1,20,11,18,1,47,62,7,1,1,1,4,1,15,1,11,6,
59,5,10,6,4,1,8,2,2,2,22,1,7,1,2,1,5,1,10,2,2,2,3,2,1,6,1,5,7,2,7,3,5,139,1,92,
1,5,30,72,8,10,166,1,54,2,38,34,69,11,10,6,13,19,58,6,10,54,27,2,15,4,23,185,1,
60,100,83,12,8,2,1,2,8,1,2,1,30,1,2,2,12,9,10,70,8,2,46,2,11,27,72,8,83,13,73,7,
10,246,1,9,1,45,1,14,10,29,3,32,2,22,1,14,73,7,1,2,1,44,3,1,1,2,1,9,8,10,6,6,1,
2,1,37,1,2,1,6,7,10,182,2,25,7,17,1,41,3,28,86,1,15,50,13,155,7,102,111,1,5,11,
196,1,204,20,99,13,176,8,16,22,170,31,199,4,185,67,185,4,7,31,1,10,4,81,1,10,6,
30,2,6,10,70,10,10,1,7,1,21,5,19,176,5,91,101,75,4,57,7,17,64,5,11,2,14,248,47,
8,214,9,42,9,231,69,4,1,7,1,2,1,163,2,15,1,29,3,2,1,14,4,8,140,3,132,18,107,5,
13,3,9,7,10,2,4,224,36,46,2,23,9,116,60,246,1,10,39,2,74,8,112,21,70,122,20,12,
20,12,87,9,25,135,1,85,1,71,1,2,2,1,2,2,2,4,1,12,1,1,1,7,1,65,1,4,2,8,1,7,1,28,
1,4,1,5,1,1,3,7,1,212,2,2,164,2,2,190,5,15,5,1,15,208,8,31,6,6,213,1,7,1,17,2,7,
1,2,1,5,5,62,33,1,112,45,3,14,2,10,4,2,192,2,31,17,58,5,1,208,3,42,230,5,7,1,4,
1,2,1,15,1,197,1,2,16,41,76,4,10,4,2,145,6,68,76,61,194,1,4,1,27,1,2,1,1,2,1,1,
10,1,4,1,1,1,1,6,1,4,1,1,1,1,1,1,3,1,2,1,1,2,1,1,1,1,1,1,1,1,1,1,2,1,1,2,4,1,7,
1,4,1,4,1,1,1,10,1,17,5,3,1,5,1,17,52,2,142,2,44,4,100,12,15,2,15,1,15,1,37,10,
174,1,56,29,13,44,4,9,7,2,14,6,154,1,216,7,4,17,3,13,3,119,4,95,6,12,4,1,15,12,
4,56,8,10,6,40,8,30,2,2,78,212,2,12,14,2,13,3,9,7,46,1,7,8,14,4,9,7,9,7,147,1,1,
55,37,10,134,8,224,205,2,32,186,32,6,222,1,2,130,45,14,177,58,159,24,158,4,226,
11,203,38,5,224,32,208,186,43,240,1,
};
// clang-format on

bool mprof_is_printable(unsigned c) {
  const unsigned char *p = runs, *end = runs + sizeof(runs);
  unsigned first = 0; // first character of the run
  for (bool is_printable = false; p < end; is_printable = !is_printable) {
    unsigned length = 0, shift = 0;
    do
      length |= (*p & 127u) << shift;
    while (shift += 7, *p++ & 128);
    if (c - first < length)
      return is_printable;
    first += length;
  }
  return false;
}

// --- sets of labels ---

struct sink {
  void (*put)(void *arg, const char *s, size_t len);
  void *arg;
};

static void put(const struct sink *to, const char *s) {
  to->put(to->arg, s, strlen(s));
}

// Writes an escape sequence such as \x1b or \u00ad: a backslash, `letter`, and
// character v as a hexadecimal number with `digits` digits.
static void put_number(const struct sink *to, char letter, unsigned v,
                       int digits) {
  char text[12] = {'\\', letter};
  for (int i = digits; i-- > 0; v >>= 4)
    text[2 + i] = "0123456789abcdef"[v & 15];
  to->put(to->arg, text, 2 + (size_t)digits);
}

static unsigned decode(const unsigned char *s, size_t n) {
  static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  unsigned c = s[0] & masks[n];
  for (size_t i = 1; i < n; i++)
    c = c << 6 | (s[i] & 0x3f);
  return c;
}

static void put_unseen(const struct sink *to, unsigned c) {
  // The letters of the escape sequences for characters 7 to 13: \a, \b, ...,
  // \r.
  static const char names[] = "abtnvfr";
  char name[] = {'\\', 0, 0};
  if (c >= 7 && c <= 13) {
    name[1] = names[c - 7];
    put(to, name);
  } else if (c < 0x80) {
    put_number(to, 'x', c, 2);
  } else if (c < 0x10000) {
    put_number(to, 'u', c, 4);
  } else {
    put_number(to, 'U', c, 8);
  }
}

// (Go: strconv.Quote)
static void put_quoted(const struct sink *to, const char *text, size_t len) {
  const unsigned char *s = (const unsigned char *)text;
  put(to, "\"");
  for (size_t i = 0, n; i < len; i += n) {
    n = mprof_utf8_length(s + i, len - i);
    const unsigned c = n > 0 ? decode(s + i, n) : 0;
    if (n == 0) {
      put_number(to, 'x', s[i], 2);
      n = 1;
    } else if (c == '"' || c == '\\') {
      put(to, c == '"' ? "\\\"" : "\\\\");
    } else if (!mprof_is_printable(c)) {
      put_unseen(to, c);
    } else {
      to->put(to->arg, text + i, n);
    }
  }
  put(to, "\"");
}

void mprof_labels_write(uint16_t id,
                        void (*fn)(void *arg, const char *s, size_t len),
                        void *arg) {
  const struct mprof_labels *s = mprof_labels_of(id);
  const struct sink to = {fn, arg};
  put(&to, "{");
  for (size_t i = 0; s && i < s->len; i++) {
    if (i > 0)
      put(&to, ", ");
    put_quoted(&to, s->v[i].key, s->v[i].key_len);
    put(&to, ":");
    put_quoted(&to, s->v[i].value, s->v[i].value_len);
  }
  put(&to, "}");
}

void mprof_label_utf8(struct mprof_text *t, const char *s, size_t len) {
  for (size_t i = 0, n; i < len; i += n) {
    n = mprof_utf8_length((const unsigned char *)s + i, len - i);
    mprof_text_mem(t, n > 0 ? s + i : "?", n > 0 ? n : 1);
    n += n == 0;
  }
}

static void put_text(void *arg, const char *s, size_t len) {
  struct mprof_text *t = arg;
  const size_t room = t->cap > t->len + 1 ? t->cap - t->len - 1 : 0;
  if (room > 0)
    memcpy(t->buf + t->len, s, len < room ? len : room);
  t->len += len;
}

MPROF_PUBLIC size_t mprof_labels_text(const struct mprof_labels *labels,
                                      char *buf, size_t len) {
  struct mprof_text t = {.buf = buf, .cap = buf ? len : 0};
  mprof_labels_write(labels ? labels->id : 0, put_text, &t);
  if (t.cap > 0)
    buf[t.len < t.cap ? t.len : t.cap - 1] = '\0';
  return t.len;
}
