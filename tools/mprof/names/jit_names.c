// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See jit_names.h.

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
#include <time.h>
#include <unistd.h>

// Limit of the size of a file.
enum { MAX_MIB = 256 };

// --- the file ---

static int64_t ns_of(const struct timespec *t) {
  return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

// Returns when a running process started (CLOCK_REALTIME), or 0.
static int64_t start_of(pid_t pid) {
  char stat[1024], *path = text_of("/proc/%d/stat", (int)pid);
  struct timespec now, since_boot;
  FILE *in = fopen(path, "re");
  const size_t length = in ? fread(stat, 1, sizeof stat - 1, in) : 0;
  if (in)
    fclose(in);
  free(path);
  stat[length] = '\0';
  // The name of the program may contain blanks and brackets. The time is the
  // 20th field behind it.
  const char *field = strrchr(stat, ')');
  for (int i = 0; i < 20 && field; i++)
    field = strchr(field + 1, ' ');
  if (!field || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
      clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0)
    return 0;
  const int64_t ticks = strtoll(field, NULL, 10);
  return ns_of(&now) - ns_of(&since_boot) +
         ticks * (1000000000 / sysconf(_SC_CLK_TCK));
}

unsigned long jit_names_pid(const char *mapping) {
  return strtoul(mapping + strlen(MPROF_JIT_FILE), NULL, 10);
}

// Returns whether a file of this user may be used.
static bool is_trusted(const struct jit_query *q, uid_t user) {
  char path[32];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%d", (int)q->process);
  return user == geteuid() || user == 0 ||
         (q->process && stat(path, &st) == 0 && user == st.st_uid);
}

// Returns why the file is not used, or NULL.
static const char *why_not(const struct jit_query *q, const struct stat *st) {
  // The kernel gives files times that are some milliseconds old.
  const int64_t slack_ns = 1000000000, changed_ns = ns_of(&st->st_mtim);
  if (!S_ISREG(st->st_mode))
    return "it is no regular file";
  if (!is_trusted(q, st->st_uid))
    return "it belongs to another user";
  if (st->st_nlink > 1)
    return "it has several names";
  if (st->st_size > (off_t)MAX_MIB << 20)
    return "it has more than 256 MiB";
  if (q->process && changed_ns < start_of(q->process) - slack_ns)
    return "it is older than the process";
  if (q->until_ns && changed_ns > q->until_ns + slack_ns)
    return "it was changed after the profile was written, perhaps by another "
           "process";
  return NULL;
}

static FILE *open_file(const struct jit_query *q, const char *path,
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

// Gives *f the parts of a name, and the place if there is one. The name is
// changed.
static void take_name(const struct jit_wanted *w, struct name_frame *f) {
  *f = (struct name_frame){.function = w->name, .file = ""};
  // The places in the dumps of some versions of V8 are wrong.
  if (take_v8(w->name, f))
    return;
  if (!take_python(w->name, f))
    take_java(w->name, f);
  if (w->file) {
    f->file = w->file;
    f->line = w->line;
  }
}

// --- all addresses ---

static int compare(const void *a, const void *b) {
  const struct jit_wanted *x = a, *y = b;
  return (x->address > y->address) - (x->address < y->address);
}

size_t jit_first(const struct jit_wanted *w, size_t count, uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (w[middle].address < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void jit_set(struct jit_wanted *w, const char *name) {
  free(w->name);
  free(w->file);
  w->name = name ? text_of("%s", name) : NULL;
  w->file = NULL;
  w->moved = 0;
}

// The files that may have the names, in the order of their importance: PREFIX
// PID.KIND. The dump is where Python, .NET or Node.js writes it.
static const struct source {
  const char *prefix, *kind;
  bool (*read)(FILE *in, struct jit_wanted *w, size_t count);
} sources[] = {{"/tmp/perf-", "map", jit_map_read},
               {"/tmp/jit-", "dump", jit_dump_read},
               {"jit-", "dump", jit_dump_read}};

// Reads one file. Returns whether it was used.
static bool read_source(const struct jit_query *q, const struct source *s,
                        struct jit_wanted *w, char **problem) {
  const char *root = q->sysroot && s->prefix[0] == '/' ? q->sysroot : "";
  char *path = text_of("%s%s%lu.%s", root, s->prefix, jit_names_pid(q->mapping),
                       s->kind);
  FILE *in = open_file(q, path, problem);
  const bool is_used = in && s->read(in, w, q->count);
  if (in && !is_used)
    *problem = text_of("%s has no names for code made at run time: it is no %s "
                       "of perf",
                       path, s->kind);
  if (in)
    fclose(in);
  free(path);
  return is_used;
}

char *jit_names_find(const struct jit_query *q, frames_fn *found, void *arg) {
  char *problem = NULL;
  struct jit_wanted *w = zeroed(q->count, sizeof *w);
  for (size_t i = 0; i < q->count; i++)
    w[i] = (struct jit_wanted){.address = q->addresses[i], .index = i};
  qsort(w, q->count, sizeof *w, compare);
  for (size_t i = 0; i < sizeof sources / sizeof *sources && !problem; i++)
    if (read_source(q, &sources[i], w, &problem))
      break;
  for (size_t i = 0; i < q->count; i++)
    if (w[i].name) {
      struct name_frame f;
      take_name(&w[i], &f);
      found(arg, w[i].index, &f, 1);
      jit_set(&w[i], NULL);
    }
  free(w);
  return problem;
}
