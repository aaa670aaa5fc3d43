// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "terminal/markup.h"

#include "common/printable.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Prints the text. Characters in `special` are printed by put_special.
static void put(FILE *out, const char *text, const char *special,
                void (*put_special)(FILE *out, char c)) {
  while (*text) {
    const size_t n = printable_length(text);
    if (*text == '\n')
      fputs("  ", out);
    else if (n == 0)
      fputc('?', out);
    else if (n == 1 && strchr(special, *text))
      put_special(out, *text);
    else
      fwrite(text, 1, n, out);
    text += n ? n : printable_skip(text);
  }
}

static void put_entity(FILE *out, char c) {
  if (c == '<' || c == '>' || c == '&')
    fprintf(out, "&%s;", c == '<' ? "lt" : c == '>' ? "gt" : "amp");
  else
    fprintf(out, "&#%d;", c);
}

// GitHub makes links of @name and #1 even where the mark is escaped, and tells
// a person that a comment names. A comment of HTML after the mark prevents
// that.
static void put_markdown_special(FILE *out, char c) {
  if (c == '<' || c == '&')
    put_entity(out, c);
  else if (c == '@' || c == '#')
    fprintf(out, "%s%c<!-- -->", c == '#' ? "\\" : "", c);
  else
    fprintf(out, "\\%c", c);
}

// True if Markdown could take a point of the text for a part of a link, or of
// the number of a list item. Other points stay as they are, so that figures and
// names of files can be read in the source, too.
static bool has_point_of_markup(const char *text) {
  const size_t digits = strspn(text, "0123456789");
  return strcasestr(text, "www.") || strstr(text, "://") ||
         (digits && text[digits] == '.' && strchr(" ", text[digits + 1]));
}

void markup_put_markdown(FILE *out, const char *text) {
  // At the start of a line, these are the mark of a list item or of a heading.
  if (*text && strchr("+-=", *text))
    put_markdown_special(out, *text++);
  put(out, text,
      has_point_of_markup(text) ? "\\`*_[]()#|~<>&@." : "\\`*_[]()#|~<>&@",
      put_markdown_special);
}

void markup_put_html(FILE *out, const char *text) {
  put(out, text, "&<>\"'", put_entity);
}

// Prints each line of the text.
static void put_lines(FILE *out, const char *lines, const char *before,
                      void (*put_line)(FILE *out, const char *text)) {
  for (; *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n') {
    char *line = strndup(lines, strcspn(lines, "\n"));
    fputs(before, out);
    put_line(out, line ? line : "");
    fputc('\n', out);
    free(line);
  }
}

void markup_put_paragraphs(FILE *out, const char *lines) {
  put_lines(out, lines, "\n", markup_put_markdown);
}

void markup_put_html_lines(FILE *out, const char *lines) {
  put_lines(out, lines, "", markup_put_html);
}
