// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/written_files.h"

#include "commands/add_names.h"
#include "commands/input.h"
#include "common/ends_with.h"
#include "common/memory.h"
#include "terminal/quantity.h"
#include "view/memory_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_path(const void *a, const void *b) {
  return strcmp(((const struct written_file *)a)->path,
                ((const struct written_file *)b)->path);
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

struct file_names file_names_list(const char *directory) {
  struct file_names n = {0};
  DIR *dir = directory ? opendir(directory) : NULL;
  for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
    if (strncmp(e->d_name, "mprof.", 6) == 0)
      *APPEND(n.items, n.count, n.capacity) = text_of("%s", e->d_name);
  if (dir)
    closedir(dir);
  if (n.count)
    qsort(n.items, n.count, sizeof *n.items, by_name);
  return n;
}

void file_names_free(struct file_names *n) {
  for (size_t i = 0; i < n->count; i++)
    free(n->items[i]);
  free(n->items);
}

bool file_names_have(const struct file_names *n, const char *name) {
  return n->count &&
         bsearch(&name, n->items, n->count, sizeof *n->items, by_name) != NULL;
}

// --- the peak ---

#define HEAP "heap.pb.gz"
#define PEAK "peak.pb.gz"

// Returns whether no block was allocated or freed between two heap profiles of
// a process.
static bool is_same_heap(const struct profile *a, const struct profile *b) {
  static const char *const types[] = {"alloc_objects", "alloc_space",
                                      "inuse_objects", "inuse_space"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (profile_sum(a, types[i]) != profile_sum(b, types[i]))
      return false;
  return true;
}

// Returns the heap profile that the program of the peak has written at exit, or
// NULL.
static struct written_file *exit_of(const struct written_files *f,
                                    const struct written_file *peak) {
  const size_t length = (size_t)(peak->rest - peak->path);
  for (size_t i = 0; i < f->count; i++)
    if (strncmp(f->items[i].path, peak->path, length) == 0 &&
        strcmp(f->items[i].path + length, HEAP) == 0)
      return &f->items[i];
  return NULL;
}

// Sets the moments of the profile of a peak and of the one at exit, if any.
// Hides the peak if it is empty, or if it lasted until the exit.
static void set_moments(struct written_file *peak,
                        struct written_file *at_exit) {
  struct profile *p = profile_new(), *e = profile_new();
  peak->moment = "the peak of the memory in use";
  peak->is_hidden = input_file_read(p, peak->path) != NULL ||
                    profile_sum(p, "inuse_space") == 0;
  if (!peak->is_hidden && at_exit && !input_file_read(e, at_exit->path)) {
    peak->is_hidden = is_same_heap(p, e);
    at_exit->moment = peak->is_hidden
                          ? "exit, which is the peak of the memory in use"
                          : "exit";
  }
  profile_free(p);
  profile_free(e);
}

// Sets the moments of all profiles. Hides all peaks of a program but the last,
// which is that of the whole run.
static void find_moments(struct written_files *f) {
  struct written_file *last = NULL;
  for (size_t i = f->count; i-- > 0;) {
    struct written_file *file = &f->items[i];
    if (!ends_with(file->path, "." PEAK))
      continue;
    if (last && strncmp(file->path, last->path,
                        (size_t)(last->rest - last->path)) == 0) {
      file->is_hidden = true;
      continue;
    }
    last = file;
    set_moments(file, exit_of(f, file));
  }
}

// --- the files ---

struct written_files written_files_find(const char *directory, pid_t program,
                                        const struct file_names *before) {
  struct written_files f = {0};
  char pid[24];
  snprintf(pid, sizeof pid, ".%d.", (int)program);
  DIR *dir = opendir(directory);
  for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
    struct stat st;
    char *path = NULL;
    const bool is_new = strncmp(e->d_name, "mprof.", 6) == 0 &&
                        asprintf(&path, "%s/%s", directory, e->d_name) > 0 &&
                        lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
                        !file_names_have(before, e->d_name);
    const char *rest = strstr(e->d_name, pid);
    if (is_new && rest)
      *APPEND(f.items, f.count, f.capacity) = (struct written_file){
          .path = path,
          .rest = path + strlen(path) - strlen(rest) + strlen(pid)};
    else if (is_new)
      *APPEND(f.others.items, f.others.count, f.others.capacity) = path;
    else
      free(path);
  }
  if (dir)
    closedir(dir);
  if (f.count)
    qsort(f.items, f.count, sizeof *f.items, by_path);
  if (f.others.count)
    qsort(f.others.items, f.others.count, sizeof *f.others.items, by_name);
  find_moments(&f);
  return f;
}

void written_files_free(struct written_files *f) {
  for (size_t i = 0; i < f->count; i++)
    free(f->items[i].path);
  free(f->items);
  file_names_free(&f->others);
}

void written_file_add_moment(const struct written_file *file, struct profile *p,
                             int64_t start_ns) {
  const char *named = file->moment;
  if (!named && memory_is(p))
    named = input_comment(p, "moment");
  if (!named)
    return;
  char *text = text_of("moment: %s", named);
  if (p->time_ns > start_ns) {
    char *moment = text;
    text = text_of("%s, %s after the start", moment,
                   quantity_of(p->time_ns - start_ns, "nanoseconds").text);
    free(moment);
  }
  const string_id id = profile_text(p, text);
  free(text);
  for (size_t i = 0; i < p->comment_count; i++)
    if (strncmp(p->strings[p->comments[i]], "moment: ", 8) == 0) {
      p->comments[i] = id;
      return;
    }
  profile_comment(p, id);
}

// --- the directory ---

// Makes the directory and those above it. realpath tells of a failure.
static void make_directories(const char *path) {
  char *copy = strdup(path);
  for (char *slash = copy; slash && (slash = strchr(slash + 1, '/')) != NULL;) {
    *slash = '\0';
    mkdir(copy, 0777);
    *slash = '/';
  }
  mkdir(path, 0777);
  free(copy);
}

// Returns why the directory cannot have the files, or NULL if it can.
static const char *why_not_in(const char *path) {
  struct stat s;
  if (stat(path, &s) == 0 && !S_ISDIR(s.st_mode))
    return "it is not a directory; --output=DIR names one for the profiles";
  if (strpbrk(path, "'%"))
    return "the path contains ' or %; use --output=DIR";
  return access(path, W_OK) == 0 ? NULL : strerror(errno);
}

// Returns the absolute path of the directory for the files. Makes the directory
// if it does not exist. Returns NULL after a message.
char *output_directory(const struct options *o) {
  const char *wanted = o->output ? o->output : ".";
  make_directories(wanted);
  char *path = realpath(wanted, NULL);
  const char *why = path ? why_not_in(path) : strerror(errno);
  if (!why)
    return path;
  complain(o, "%s: %s", path ? path : wanted, why);
  free(path);
  return NULL;
}

bool heap_rate_is_right(const struct options *o) {
  const char *rate = o->heap_rate;
  if (!rate)
    return true;
  const size_t digits = strspn(rate, "0123456789");
  const char *unit = rate + digits;
  if (digits > 0 && (!*unit || (strchr("kmgKMG", *unit) && !unit[1])))
    return true;
  complain(o, "--heap-rate=%s is not a number of bytes such as 64k", rate);
  return false;
}
