// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes label sets as text, in Go's format and with Go's quoting. (Go:
// LabelSet.String, strconv.Quote)

#include "thread/labels_text.h"

#include "sys/message.h"
#include "thread/labels.h"
#include "thread/printable.h"

#include <string.h>

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
