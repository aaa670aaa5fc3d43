// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds source lines to a page. The paths come from the profile, and a page may
// be given to others. So only files whose names end like those of source files
// are read, and only the neighbourhood of lines with values is added.

#include "html/source_page.h"

#include "common/memory.h"
#include "files/json.h"
#include "files/source.h"
#include "html/page_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Lines before and after a line with a value; limits for a page, a file and a
// line.
enum {
  CONTEXT = 5,
  MAX_FILES = 500,
  MAX_LINE = 400,
};

struct place {
  uint32_t file;
  int64_t line;
};

static int by_file(const void *x, const void *y) {
  const struct place *a = x, *b = y;
  if (a->file != b->file)
    return a->file < b->file ? -1 : 1;
  return (a->line > b->line) - (a->line < b->line);
}

static bool is_source(const char *path) {
  static const char *const ends[] = {
      ".c",   ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".h",   ".hh", ".hpp",
      ".hxx", ".h++", ".H",   ".inl", ".ipp", ".tcc", ".inc", ".def"};
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
    if (strcmp(dot, ends[i]) == 0)
      return true;
  return false;
}

// Writes one line. Returns its length.
static size_t write_line(const char *text, FILE *out) {
  char line[MAX_LINE + 1];
  const size_t n = source_line(text, line, sizeof line);
  json_string(out, line);
  return n;
}

// Writes the lines of one file near the places, until they have `most` bytes.
// Returns the length of the text.
static size_t write_file(const struct source *s, const struct place *places,
                         size_t count, size_t most, FILE *out) {
  size_t length = 0;
  int64_t next = 1;
  bool is_first = true;
  for (size_t i = 0; i < count && length < most; i++) {
    if (places[i].line <= 0 || (uint64_t)places[i].line > s->count)
      continue;
    int64_t from = places[i].line - CONTEXT, to = places[i].line + CONTEXT;
    if (from < next)
      from = next;
    if (to > (int64_t)s->count)
      to = (int64_t)s->count;
    for (next = from; next <= to; next++) {
      fprintf(out, "%s%" PRId64 ",", is_first ? "" : ",", next);
      length += write_line(s->lines[next - 1], out) + 8;
      is_first = false;
    }
  }
  return length;
}

static size_t collect(const struct page *page, struct place **places) {
  size_t count = 0, capacity = 0;
  for (size_t i = 0; i < page->function_count[GRAIN_LINES]; i++) {
    const struct page_function *f = &page->functions[GRAIN_LINES][i];
    if (page->numbers.functions[GRAIN_LINES][i] != NOT_WRITTEN && f->line > 0 &&
        !f->is_std && is_source(page->texts->strings[f->file]))
      *APPEND(*places, count, capacity) = (struct place){f->file, f->line};
  }
  if (count)
    qsort(*places, count, sizeof **places, by_file);
  return count;
}

void page_write_sources(const struct page *page, const char *directory,
                        size_t most, FILE *out) {
  struct place *places = NULL;
  const size_t count = most ? collect(page, &places) : 0;
  size_t files = 0, left = most;
  fputc('[', out);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i; end < count && places[end].file == places[i].file;)
      end++;
    if (files == MAX_FILES || left == 0)
      break;
    struct source s =
        source_read(page->texts->strings[places[i].file], directory);
    if (!s.text)
      continue;
    fprintf(out, "%s[%" PRIu32 ",[", files++ ? ",\n" : "",
            page->numbers.texts[places[i].file]);
    const size_t used = write_file(&s, &places[i], end - i, left, out);
    left = used < left ? left - used : 0;
    fputs("]]", out);
    source_free(&s);
  }
  fputc(']', out);
  free(places);
}
