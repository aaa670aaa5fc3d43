// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/directory.h"

#include "common/memory.h"
#include "names/places.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct files {
  char **paths;
  size_t count, capacity;
};

static bool is_directory(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool ends_with_one(const char *name, const char *const suffixes[]) {
  const size_t length = strlen(name);
  for (; *suffixes; suffixes++)
    if (length > strlen(*suffixes) &&
        strcmp(name + length - strlen(*suffixes), *suffixes) == 0)
      return true;
  return false;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

// Appends the sorted paths of the regular files whose names have one of the
// suffixes. Hidden files are temporary ones.
static void list(const char *directory, const char *const suffixes[],
                 struct files *f) {
  const size_t before = f->count;
  const size_t length = strlen(directory);
  const char *slash = length && directory[length - 1] == '/' ? "" : "/";
  DIR *dir = opendir(directory);
  for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
    struct stat s;
    char *path = text_of("%s%s%s", directory, slash, e->d_name);
    if (e->d_name[0] != '.' && ends_with_one(e->d_name, suffixes) &&
        stat(path, &s) == 0 && S_ISREG(s.st_mode))
      *APPEND(f->paths, f->count, f->capacity) = path;
    else
      free(path);
  }
  if (dir)
    closedir(dir);
  if (f->count > before)
    qsort(f->paths + before, f->count - before, sizeof *f->paths, by_name);
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

bool directory_expand(const struct options *options,
                      const char *const suffixes[], struct options *own) {
  struct files f = {0};
  for (int i = 0; i < options->path_count; i++) {
    char *path = options->paths[i];
    const size_t before = f.count;
    if (is_directory(path))
      list(path, suffixes, &f);
    else
      *APPEND(f.paths, f.count, f.capacity) = path;
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

const char *directory_message(const char *path) {
  static const char *const heap[] = {".heap.pb.gz", NULL};
  static const char *const any[] = {".pb.gz", ".pb", NULL};
  static char text[PATH_MAX + 100];
  struct files f = {0};
  if (!is_directory(path))
    return NULL;
  list(path, heap, &f);
  if (!f.count)
    list(path, any, &f);
  const char *file = newest(&f);
  if (file)
    snprintf(text, sizeof text,
             "a directory; give profiles of one kind in it, such as %s", file);
  else
    snprintf(text, sizeof text, "a directory without profiles");
  for (size_t i = 0; i < f.count; i++)
    free(f.paths[i]);
  free(f.paths);
  return text;
}
