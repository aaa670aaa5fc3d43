// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/directory.h"

#include "common/ends_with.h"
#include "common/memory.h"
#include "common/plural.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct files {
  char **paths;
  size_t count, capacity;
};

bool directory_is(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool ends_with_one(const char *name, const char *const suffixes[]) {
  for (; *suffixes; suffixes++)
    if (ends_with(name, *suffixes))
      return true;
  return false;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

// Appends the sorted paths of the regular files whose names have one of the
// suffixes. Hidden files are temporary ones. Returns NULL, or why the directory
// cannot be read.
static const char *list(const char *directory, const char *const suffixes[],
                        struct files *f) {
  const size_t before = f->count;
  const size_t length = strlen(directory);
  const char *slash = length && directory[length - 1] == '/' ? "" : "/";
  DIR *dir = opendir(directory);
  if (!dir)
    return strerror(errno);
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    struct stat s;
    char *path = text_of("%s%s%s", directory, slash, e->d_name);
    if (e->d_name[0] != '.' && ends_with_one(e->d_name, suffixes) &&
        stat(path, &s) == 0 && S_ISREG(s.st_mode))
      *APPEND(f->paths, f->count, f->capacity) = path;
    else
      free(path);
  }
  closedir(dir);
  if (f->count > before)
    qsort(f->paths + before, f->count - before, sizeof *f->paths, by_name);
  return NULL;
}

static void complain_of_none(const struct options *options, const char *path,
                             const char *const suffixes[]) {
  char kinds[200] = "";
  for (size_t i = 0; suffixes[i]; i++) {
    const size_t length = strlen(kinds);
    snprintf(kinds + length, sizeof kinds - length, "%s*%s", i ? ", " : "",
             suffixes[i]);
  }
  complain(options, "the directory %s has no file %s", path, kinds);
}

// --- snapshots ---

// Finds the time in the name of a snapshot, such as 20261126T093000 in
// app.4711.20261126T093000.heap.pb.gz or app.4711.20261126T093000.2.heap.pb.gz.
// Returns the length of the path before the point of the time, or 0 if the file
// is no snapshot. *rest receives the text after the time and the number.
static size_t before_time(const char *path, const char **rest) {
  static const char form[] = ".ddddddddTdddddd.";
  const char *slash = strrchr(path, '/');
  for (const char *at = slash ? slash : path; (at = strchr(at, '.')); at++) {
    size_t n = 0;
    while (form[n] &&
           (form[n] == 'd' ? isdigit((unsigned char)at[n]) : at[n] == form[n]))
      n++;
    if (form[n])
      continue;
    const char *end = at + n - 1;
    const size_t number = strspn(end + 1, "0123456789");
    *rest = number && end[1 + number] == '.' ? end + 1 + number : end;
    return (size_t)(at - path);
  }
  return 0;
}

// Returns whether the files have what path i has, and more: it is a profile at
// one time, and the same process has written a later one of the kind. Traces
// are different: each has events of its own.
static bool is_outdated(const struct files *f, size_t i) {
  static const char *const profiles[] = {".pb.gz", NULL};
  const char *path = f->paths[i], *rest, *other_rest;
  const size_t length =
      ends_with_one(path, profiles) ? before_time(path, &rest) : 0;
  for (size_t k = 0; length && k < f->count; k++) {
    const char *other = f->paths[k];
    if (k == i || strncmp(other, path, length) != 0)
      continue;
    const bool is_later_snapshot = k > i &&
                                   before_time(other, &other_rest) == length &&
                                   strcmp(other_rest, rest) == 0;
    if (is_later_snapshot || strcmp(other + length, rest) == 0)
      return true;
  }
  return false;
}

// Leaves out the outdated snapshots from index `first` on. A process counts on
// from one snapshot to the next, so they must not be added up.
static void leave_out(const struct options *options, struct files *f,
                      size_t first) {
  size_t kept = first;
  bool *out = calloc(f->count + 1, sizeof *out);
  for (size_t i = first; out && i < f->count; i++)
    out[i] = is_outdated(f, i);
  for (size_t i = first; out && i < f->count; i++)
    if (out[i])
      free(f->paths[i]);
    else
      f->paths[kept++] = f->paths[i];
  const size_t left_out = out ? f->count - kept : 0;
  if (left_out) {
    complain(options,
             "note: %zu snapshot%s, of which a later file is there, %s left "
             "out; name the files to add them up",
             left_out, plural(left_out), is_or_are(left_out));
    f->count = kept;
  }
  free(out);
}

bool directory_expand(const struct options *options,
                      const char *const suffixes[], bool adds_up,
                      struct options *own) {
  struct files f = {0};
  for (int i = 0; i < options->path_count; i++) {
    char *path = options->paths[i];
    const size_t before = f.count;
    if (!directory_is(path)) {
      *APPEND(f.paths, f.count, f.capacity) = path;
      continue;
    }
    const char *error = list(path, suffixes, &f);
    if (error) {
      complain(options, "%s: %s", path, error);
      return false;
    }
    if (adds_up)
      leave_out(options, &f, before);
    if (f.count == before) {
      complain_of_none(options, path, suffixes);
      return false;
    }
  }
  *own = *options;
  own->paths = f.paths;
  own->path_count = own->first_count = (int)f.count;
  return true;
}

// Returns the path of the newest file, or NULL if there is none.
static const char *newest(const struct files *f) {
  const char *found = NULL;
  struct timespec last = {0};
  for (size_t i = 0; i < f->count; i++) {
    struct stat s;
    if (stat(f->paths[i], &s) != 0 ||
        (found && (s.st_mtim.tv_sec < last.tv_sec ||
                   (s.st_mtim.tv_sec == last.tv_sec &&
                    s.st_mtim.tv_nsec < last.tv_nsec))))
      continue;
    found = f->paths[i];
    last = s.st_mtim;
  }
  return found;
}

static void free_files(struct files *f) {
  for (size_t i = 0; i < f->count; i++)
    free(f->paths[i]);
  free(f->paths);
}

const char *directory_newest(const char *path, const char *suffix) {
  return directory_newest_of(path, (const char *const[]){suffix, NULL});
}

const char *directory_newest_of(const char *path,
                                const char *const suffixes[]) {
  static char text[PATH_MAX];
  struct files f = {0};
  if (!directory_is(path))
    return NULL;
  list(path, suffixes, &f);
  const char *file = newest(&f);
  if (file)
    snprintf(text, sizeof text, "%s", file);
  free_files(&f);
  return file ? text : NULL;
}

const char *directory_trace(const struct options *options, const char *path) {
  const char *trace =
      directory_is(path) ? directory_newest(path, ".trace") : path;
  if (!trace)
    complain(options, "%s has no file whose name ends in .trace", path);
  return trace;
}

const char *directory_message(const char *path) {
  return directory_is(path) ? "a directory; give a file of it" : NULL;
}
