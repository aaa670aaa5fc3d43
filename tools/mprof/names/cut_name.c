// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens the names of functions; see cut_name.h.

#define _GNU_SOURCE 1

#include "names/cut_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char mark[] = MPROF_CUT_MARK;
static const char dots[] = "....";
enum { DEPTHS = 64, MARK = sizeof(mark) - 1, DOTS = sizeof(dots) - 1 };

// Returns the number of characters of the operator at p that could be mistaken
// for brackets, such as "<<" in "operator<<". Template arguments may follow.
static size_t skip_operator(const char *p) {
  static const char word[] = "operator";
  static const char symbols[][4] = {"<=>", "<<=", ">>=", "->*", "<<", ">>",
                                    "<=",  ">=",  "->",  "<",   ">"};
  const size_t n = sizeof(word) - 1;
  if (strncmp(p, word, n) != 0)
    return 0;
  for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
    const size_t len = strlen(symbols[i]);
    const char next = strncmp(p + n, symbols[i], len) == 0 ? p[n + len] : 'x';
    if (next == '\0' || strchr("(<[ ", next) != NULL)
      return n + len;
  }
  return n;
}

// Copies the name to `to`, which may be the name itself, with "...." in the
// place of template arguments at a depth of more than max_depth. Adds to
// sizes[d] the number of characters at depth d, and to groups[d] the number of
// lists of arguments that begin at depth d. to, sizes and groups may be NULL.
// Returns the new length.
static size_t copy(char *to, const char *name, size_t max_depth, size_t *sizes,
                   size_t *groups) {
  size_t depth = 0, len = 0, begin = 0;
  for (size_t i = 0, n; name[i] != '\0'; i += n) {
    n = skip_operator(name + i);
    n += n == 0;
    const bool closes =
        n == 1 && name[i] == '>' && depth > 0 && name[i - 1] != '-';
    depth -= closes;
    if (closes && depth == max_depth && to != NULL && len - begin > DOTS) {
      memcpy(to + begin, dots, DOTS);
      len = begin + DOTS;
    }
    if (to != NULL)
      memmove(to + len, name + i, n);
    len += n;
    if (sizes != NULL)
      sizes[depth < DEPTHS ? depth : DEPTHS - 1] += n;
    if (n == 1 && name[i] == '<') {
      if (groups != NULL)
        groups[depth < DEPTHS ? depth : DEPTHS - 1]++;
      if (depth == max_depth)
        begin = len;
      depth++;
    }
  }
  if (to != NULL)
    to[len] = '\0';
  return len;
}

// Returns whether a character of UTF-8 continues at p.
static bool continues(const char *p) { return (*p & 0xc0) == 0x80; }

// Replaces the part of the text from `head` on by the mark, except the last
// `tail` bytes. Keeps whole characters.
static size_t cut_middle(char *text, size_t len, size_t head, size_t tail) {
  while (head > 0 && continues(text + head))
    head--;
  while (tail > 0 && continues(text + len - tail))
    tail--;
  memcpy(text + head, mark, MARK);
  memmove(text + head + MARK, text + len - tail, tail + 1);
  return head + MARK + tail;
}

size_t mprof_cut_name(char *name, size_t max) {
  size_t sizes[DEPTHS] = {0}, groups[DEPTHS] = {0};
  size_t len = strnlen(name, max + 1);
  if (len <= max)
    return len;
  copy(NULL, name, SIZE_MAX, sizes, groups);
  // The greatest depth whose result is short enough, or 0.
  size_t depth = 0, sum = sizes[0];
  for (size_t d = 1; d < DEPTHS; d++) {
    sum += sizes[d];
    if (sum + DOTS * groups[d] <= max)
      depth = d;
  }
  len = copy(name, name, depth, NULL, NULL);
  if (len <= max)
    return len;
  const size_t kept = max - MARK;
  return cut_middle(name, len, kept - kept / 3, kept / 3);
}

void mprof_cut_frame(char *function, char *path, size_t room) {
  size_t len = strlen(path);
  const size_t max = room / 2;
  if (len > max && strlen(function) + len > room)
    len = cut_middle(path, len, 0, max - MARK);
  mprof_cut_name(function, room - len);
}
