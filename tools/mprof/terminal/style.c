// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "terminal/style.h"

#include "common/printable.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

static unsigned terminal_width(int fd) {
  const char *columns = getenv("COLUMNS");
  const long wanted = columns ? strtol(columns, NULL, 10) : 0;
  if (wanted >= 20 && wanted <= 10000)
    return (unsigned)wanted;
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
    return size.ws_col;
  return 80;
}

static struct style style_of(int fd, const char *colour) {
  struct style s = {0};
  setlocale(LC_CTYPE, "");
  s.has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  const bool is_terminal = isatty(fd);
  if (is_terminal)
    s.width = terminal_width(fd);
  const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
  s.has_colour = is_terminal && !(no_colour && *no_colour) &&
                 !(term && strcmp(term, "dumb") == 0);
  if (colour && strcmp(colour, "always") == 0)
    s.has_colour = true;
  else if (colour && strcmp(colour, "never") == 0)
    s.has_colour = false;
  return s;
}

struct style style_of_output(const char *colour) {
  return style_of(STDOUT_FILENO, colour);
}

struct style style_of_error(const char *colour) {
  return style_of(STDERR_FILENO, colour);
}

// Decodes the character at *text and moves *text behind it. Returns its
// columns. Sets *length to its bytes, or to 0 if it must not be printed.
static unsigned next_character(const char **text, size_t *length) {
  const char *at = *text;
  wchar_t wide;
  mbstate_t state = {0};
  *length = printable_length(at);
  *text += *length ? *length : printable_skip(at);
  if (*length <= 1 || mbrtowc(&wide, at, *length, &state) > *length)
    return 1;
  const int columns = wcwidth(wide);
  if (columns < 0)
    *length = 0;
  return columns < 0 ? 1 : (unsigned)columns;
}

unsigned style_width(const char *text) {
  unsigned width = 0;
  for (size_t length; *text;)
    width += next_character(&text, &length);
  return width;
}

void style_put(FILE *out, const char *text) {
  for (size_t length; *text;) {
    const char *at = text;
    next_character(&text, &length);
    if (length)
      fwrite(at, 1, length, out);
    else
      fputc('?', out);
  }
}

void style_put_lines(FILE *out, const char *text, size_t length) {
  const char *end = text + length;
  while (text < end) {
    const size_t blanks = strspn(text, "\n\t");
    fwrite(text, 1, blanks, out);
    text += blanks;
    const size_t part = strcspn(text, "\n\t");
    char *copy = strndup(text, part);
    if (copy)
      style_put(out, copy);
    free(copy);
    text += part;
    if (text < end && *text == '\0') {
      fputc('?', out);
      text++;
    }
  }
}

void style_put_cut(FILE *out, const char *text, unsigned columns) {
  if (style_width(text) <= columns) {
    style_put(out, text);
    return;
  }
  const unsigned dots = columns < 3 ? columns : 3;
  unsigned used = 0;
  for (size_t length; *text;) {
    const char *at = text;
    used += next_character(&text, &length);
    if (used > columns - dots)
      break;
    if (length)
      fwrite(at, 1, length, out);
    else
      fputc('?', out);
  }
  fprintf(out, "%.*s", (int)dots, "...");
}

// Copies the first `count` parts of the text as one line, cut to the buffer.
static void join_parts(char *line, size_t size, const char *text,
                       unsigned count) {
  size_t n = 0;
  for (; *text && n + 3 < size; text++) {
    if (*text != '\n') {
      line[n++] = *text;
      continue;
    }
    if (--count == 0)
      break;
    line[n++] = ' ';
    line[n++] = ' ';
  }
  line[n] = '\0';
}

static unsigned count_parts(const char *text) {
  unsigned count = 1;
  for (; *text; text++)
    count += *text == '\n';
  return count;
}

enum { MAX_LINE = 2048 };

unsigned style_parts_width(const char *text) {
  char line[MAX_LINE];
  join_parts(line, sizeof line, text, UINT_MAX);
  return style_width(line);
}

// Prints the last columns of the line, after its leading blanks and dots.
static void put_end(FILE *out, const char *line, unsigned columns) {
  const size_t blanks = strspn(line, " ");
  const unsigned used = (unsigned)blanks + 3;
  if (columns < used + 10) {
    style_put_cut(out, line, columns);
    return;
  }
  fprintf(out, "%*s...", (int)blanks, "");
  size_t length;
  while (style_width(line) > columns - used)
    next_character(&line, &length);
  style_put(out, line);
}

void style_put_parts(FILE *out, const char *text, unsigned columns) {
  char line[MAX_LINE];
  unsigned count = count_parts(text);
  join_parts(line, sizeof line, text, count);
  // Keep the name and its place.
  while (columns && count > 2 && style_width(line) > columns)
    join_parts(line, sizeof line, text, --count);
  if (columns && style_width(line) > columns)
    put_end(out, line, columns);
  else
    style_put(out, line);
}
