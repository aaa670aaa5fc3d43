// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See jit_names.h. A line of the file is "START SIZE NAME", with hexadecimal
// numbers. A later line replaces earlier ones, because code is moved and freed.
// The file may have millions of lines, so it is read once for all addresses,
// and only the names of these addresses are kept.

#include "names/jit_names.h"

#include "common/memory.h"
#include "names/limits.h"
#include "symbolize/symbolizer_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Limits of the size of a file, and of a line. The rest of a longer line is
// ignored.
enum { MAX_MIB = 256, MAX_LINE = 8192 };

// --- the file ---

static int64_t ns_of(const struct timespec *t) {
  return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

// Returns why the file is not used, or NULL.
static const char *why_not(const struct jit_query *q, const struct stat *st) {
  // The kernel gives files times that are some milliseconds old.
  const int64_t slack_ns = 1000000000, changed_ns = ns_of(&st->st_mtim);
  if (!S_ISREG(st->st_mode))
    return "it is no regular file";
  if (st->st_uid != geteuid() && st->st_uid != 0)
    return "it belongs to another user";
  if (st->st_nlink > 1)
    return "it has several names";
  if (st->st_size > (off_t)MAX_MIB << 20)
    return "it has more than 256 MiB";
  if (q->since_ns && changed_ns < q->since_ns - slack_ns)
    return "it is older than the process";
  if (q->until_ns && changed_ns > q->until_ns + slack_ns)
    return "it was changed after the profile was written, perhaps by another "
           "process";
  return NULL;
}

static FILE *open_map(const struct jit_query *q, const char *path,
                      char **problem) {
  struct stat st;
  const char *why = NULL;
  const int fd =
      open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && errno == ENOENT)
    return NULL;
  if (fd < 0)
    why = errno == ELOOP ? "it is a symbolic link" : strerror(errno);
  else if (fstat(fd, &st) != 0)
    why = strerror(errno);
  else
    why = why_not(q, &st);
  FILE *in = why || fd < 0 ? NULL : fdopen(fd, "r");
  if (why)
    *problem =
        text_of("%s has no names for code made at run time: %s", path, why);
  if (!in && fd >= 0)
    close(fd);
  if (in)
    limits_allow((uint64_t)st.st_size);
  return in;
}

// --- names ---

// Splits "function /path/file.js:10:5" at the blank before the path. The text
// is changed.
static void split_place(char *text, struct name_frame *f) {
  static const char *const begins[] = {" /", " node:", " file:", " http"};
  char *at = NULL;
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
    char *p = strstr(text, begins[i]);
    if (p && (!at || p < at))
      at = p;
  }
  if (!at)
    at = strrchr(text, ' ');
  f->function = text;
  if (!at)
    return;
  // The line and the column.
  char *column = strrchr(at, ':');
  if (!column || column[1] == '\0' ||
      column[1 + strspn(column + 1, "0123456789")])
    return;
  *column = '\0';
  char *line = strrchr(at, ':');
  if (!line || line[1] == '\0' || line[1 + strspn(line + 1, "0123456789")]) {
    *column = ':';
    return;
  }
  *line = *at = '\0';
  f->file = at + 1;
  f->line = f->start_line = strtoll(line + 1, NULL, 10);
  if (!*text)
    f->function = "(anonymous)";
}

// V8: "JS:*name /path/file.js:10:5". The sign tells how the function was
// compiled. Builtin:Name and names of other kinds stay as they are.
static bool take_v8(char *text, struct name_frame *f) {
  static const char *const kinds[] = {
      "JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const size_t length = strlen(kinds[i]);
    if (strncmp(text, kinds[i], length) == 0) {
      text += length;
      text += strspn(text, "*~^+");
      split_place(text, f);
      return true;
    }
  }
  return false;
}

// Python: "py::function:/path/file.py"
static bool take_python(char *text, struct name_frame *f) {
  if (strncmp(text, "py::", 4) != 0)
    return false;
  f->function = text + 4;
  char *colon = strchr(text + 4, ':');
  if (colon) {
    *colon = '\0';
    f->file = colon + 1;
  }
  return true;
}

// Returns the length of a Java type or of a method with its class.
static size_t java_length(const char *text) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$<>[]/+";
  return strspn(text, letters);
}

// Java: "int com.foo.Bar.method(int, long)" or "Lcom/foo/Bar;::method". The
// result is com.foo.Bar.method.
static bool take_java(char *text, struct name_frame *f) {
  char *semicolon = strstr(text, ";::");
  if (text[0] == 'L' && semicolon && semicolon[3]) {
    memmove(semicolon + 1, semicolon + 3, strlen(semicolon + 3) + 1);
    *semicolon = '.';
    for (char *p = text; p < semicolon; p++)
      *p = (char)(*p == '/' ? '.' : *p);
    f->function = text + 1;
    return true;
  }
  const size_t type = java_length(text);
  if (type == 0 || text[type] != ' ')
    return false;
  char *method = text + type + 1, *open = method + java_length(method);
  if (open == method || *open != '(' || text[strlen(text) - 1] != ')' ||
      !memchr(method, '.', (size_t)(open - method)))
    return false;
  *open = '\0';
  f->function = method;
  return true;
}

// Gives *f the parts of a name. The text is changed.
static void take_name(char *text, struct name_frame *f) {
  *f = (struct name_frame){.function = text, .file = ""};
  if (!take_v8(text, f) && !take_python(text, f))
    take_java(text, f);
}

// --- all addresses ---

struct wanted {
  uint64_t address;
  size_t index;
  char *name; // NULL: none so far
};

static int compare(const void *a, const void *b) {
  const struct wanted *x = a, *y = b;
  return (x->address > y->address) - (x->address < y->address);
}

// Gives the name to all addresses in the range. Those of a part of the range
// that no address is in cost only the search.
static void name_range(struct wanted *w, size_t count, uint64_t start,
                       uint64_t size, const char *name) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (w[middle].address < start)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < count && w[low].address - start < size; low++) {
    free(w[low].name);
    w[low].name = text_of("%s", name);
  }
}

// Reads "START SIZE NAME". Returns the name, or NULL if the line is none.
static char *parse(char *line, uint64_t *start, uint64_t *size) {
  char *end = line, *rest;
  *start = strtoull(line, &rest, 16);
  if (rest == end || *rest != ' ')
    return NULL;
  end = rest;
  *size = strtoull(end, &rest, 16);
  if (rest == end || *rest != ' ')
    return NULL;
  rest++;
  rest[strcspn(rest, "\r\n")] = '\0';
  return *rest ? rest : NULL;
}

// Returns whether the file has lines of a map, or nothing.
static bool read_map(FILE *in, struct wanted *w, size_t count) {
  static char line[MAX_LINE];
  bool is_begin = true, has_any = false, is_empty = true;
  while (fgets(line, sizeof line, in)) {
    const bool is_line = is_begin;
    uint64_t start, size;
    is_begin = strchr(line, '\n') != NULL;
    is_empty = false;
    const char *name = is_line ? parse(line, &start, &size) : NULL;
    if (name)
      name_range(w, count, start, size, name);
    has_any |= name != NULL;
  }
  return has_any || is_empty;
}

char *jit_names_find(const struct jit_query *q, frames_fn *found, void *arg) {
  char *problem = NULL;
  const unsigned long pid =
      strtoul(q->mapping + strlen(MPROF_JIT_FILE), NULL, 10);
  char *path =
      text_of("%s/tmp/perf-%lu.map", q->sysroot ? q->sysroot : "", pid);
  FILE *in = open_map(q, path, &problem);
  if (in) {
    struct wanted *w = zeroed(q->count, sizeof *w);
    for (size_t i = 0; i < q->count; i++)
      w[i] = (struct wanted){.address = q->addresses[i], .index = i};
    qsort(w, q->count, sizeof *w, compare);
    if (!read_map(in, w, q->count))
      problem = text_of("%s has no names for code made at run time: it is no "
                        "map of perf",
                        path);
    for (size_t i = 0; i < q->count; i++)
      if (w[i].name) {
        struct name_frame f;
        take_name(w[i].name, &f);
        found(arg, w[i].index, &f, 1);
        free(w[i].name);
      }
    free(w);
    fclose(in);
  }
  free(path);
  return problem;
}
