// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/run_processes.h"

#include "commands/add_names.h"
#include "commands/directory.h"
#include "commands/profile_kinds.h"
#include "common/memory.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_PID = 1 << 22 }; // Linux: PID_MAX_LIMIT

// Returns the number of the process in the name mprof.PROGRAM.PID, or 0 if
// mprof run has not given this name. The name of the program may have points
// and numbers. A smaller number follows if a file of the same name existed, or
// the time of a snapshot. A number that no process of Linux has, such as a
// date, is part of the name. Sets *length to the length of the path up to the
// number.
static long pid_of(const char *path, size_t *length) {
  static const char prefix[] = "mprof.";
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  long pid = 0;
  *length = strlen(path);
  if (strncmp(name, prefix, strlen(prefix)) != 0)
    return 0;
  for (const char *at = strchr(name + strlen(prefix), '.'); at;
       at = strchr(at + 1, '.')) {
    const size_t digits = strspn(at + 1, "0123456789");
    const char next = at[1 + digits];
    if (digits == 0 || digits > 10 || (next != '\0' && next != '.'))
      continue;
    const long number = strtol(at + 1, NULL, 10);
    if (number <= pid || number > LARGEST_PID)
      continue;
    pid = number;
    *length = (size_t)(at + 1 + digits - path);
  }
  return pid;
}

static bool is_later(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

// Adds a file to its process.
static void add_file(struct run_processes *r, const char *path) {
  const struct profile_kind *kind = profile_kind_of(path);
  struct stat s;
  if (!kind || stat(path, &s) != 0)
    return;
  size_t length;
  char *stem =
      text_of("%.*s", (int)(strlen(path) - strlen(kind->suffix)), path);
  const long pid = pid_of(stem, &length);
  stem[length] = '\0';
  size_t i = 0;
  while (i < r->count && strcmp(r->items[i].stem, stem) != 0)
    i++;
  if (i == r->count)
    *APPEND(r->items, r->count, r->capacity) =
        (struct run_process){.stem = stem, .pid = pid};
  else
    free(stem);
  struct run_process *p = &r->items[i];
  if (p->newest && !is_later(s.st_mtim, p->written))
    return;
  p->newest = path;
  p->written = s.st_mtim;
}

// --- what a process has done ---

static double sum_of(const struct run_process *p, const char *kind,
                     const char *type) {
  char *path = profile_kind_beside(p->newest, profile_kind_named(kind));
  if (!path)
    return 0;
  struct profile *profile = profile_new();
  const double sum = input_file_read(profile, path) == NULL
                         ? (double)profile_sum(profile, type)
                         : 0;
  profile_free(profile);
  free(path);
  return sum;
}

static double cpu_of(const struct run_process *p) {
  return sum_of(p, "cpu", "cpu");
}

static double allocated_by(const struct run_process *p) {
  return sum_of(p, "heap", "alloc_space");
}

static double trace_of(const struct run_process *p) {
  char *path = profile_kind_beside(p->newest, profile_kind_named("trace"));
  struct stat s;
  const double size = path && stat(path, &s) == 0 ? (double)s.st_size : 0;
  free(path);
  return size;
}

static void put_first(struct run_processes *r, size_t index) {
  const struct run_process chosen = r->items[index];
  memmove(&r->items[1], &r->items[0], index * sizeof *r->items);
  r->items[0] = chosen;
}

// Returns whether the process is of a program that only starts others in most
// cases. Its files have the name mprof.PROGRAM.PID.
static bool is_shell(const struct run_process *p) {
  static const char *const names[] = {
      "sh",  "bash", "dash",  "ash",   "busybox", "ksh",   "mksh",
      "zsh", "fish", "ctest", "ninja", "timeout", "xargs", "make"};
  const char *slash = strrchr(p->stem, '/');
  const char *name = slash ? slash + 1 : p->stem, *end = strrchr(name, '.');
  const char *begin = strchr(name, '.');
  if (p->pid <= 0 || begin >= end)
    return false;
  begin++;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == (size_t)(end - begin) &&
        strncmp(names[i], begin, (size_t)(end - begin)) == 0)
      return true;
  return false;
}

// Puts the process that has done most before the newest one, which is first.
// Less than `least` may be chance. If a shell is the newest one, less than
// `least_of_shell` may be all that it does to start and await programs. Any
// value of one of these programs is then more.
static void choose(struct run_processes *r) {
  static const struct {
    double (*of)(const struct run_process *p);
    double least, least_of_shell;
  } measures[] = {
      {cpu_of, 30e6, 30e6}, // three samples at the rate of mprof run
      {allocated_by, 0, 1 << 20},
      {trace_of, 0, 0},
  };
  const bool begins_with_shell = is_shell(&r->items[0]);
  for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
    size_t best = 0;
    double most = 0;
    for (size_t i = 0; i < r->count; i++) {
      const double value = measures[m].of(&r->items[i]);
      const double least = !begins_with_shell ? measures[m].least
                           : i == 0           ? measures[m].least_of_shell
                                              : 0;
      if (value > most && value >= least) {
        most = value;
        best = i;
      }
    }
    if (most > 0) {
      put_first(r, best);
      return;
    }
  }
}

// Returns whether process p was started after the newest one and ended not long
// before it. Its number is then higher, or Linux has begun again with low ones.
static bool is_of_run(const struct run_process *newest,
                      const struct run_process *p) {
  enum { USUAL_MAX = 32768, LONGEST_S = 600 };
  const long numbers =
      newest->pid < USUAL_MAX && p->pid < USUAL_MAX ? USUAL_MAX : LARGEST_PID;
  const long after = (p->pid - newest->pid + numbers) % numbers;
  return newest->pid > 0 && p->pid > 0 && after > 0 && after < numbers / 2 &&
         newest->written.tv_sec - p->written.tv_sec < LONGEST_S;
}

// Puts the newest process first, and leaves out those that are not of its run.
static void keep_run(struct run_processes *r) {
  size_t newest = 0, kept = 1;
  for (size_t i = 1; i < r->count; i++)
    if (is_later(r->items[i].written, r->items[newest].written))
      newest = i;
  put_first(r, newest);
  for (size_t i = 1; i < r->count; i++)
    if (is_of_run(&r->items[0], &r->items[i]))
      r->items[kept++] = r->items[i];
    else
      free(r->items[i].stem);
  r->count = kept;
}

struct run_processes run_processes_find(const struct options *options,
                                        const char *directory) {
  struct run_processes r = {0};
  const char *suffixes[32] = {NULL};
  for (size_t i = 0; profile_kinds[i].name; i++)
    suffixes[i] = profile_kinds[i].suffix;
  if (!directory_newest_of(directory, suffixes))
    return r;
  char *path = text_of("%s", directory);
  struct options one = *options, files;
  one.paths = &path;
  one.path_count = 1;
  if (directory_expand(&one, suffixes, false, &files))
    for (int i = 0; i < files.path_count; i++)
      add_file(&r, files.paths[i]);
  free(path);
  if (r.count) {
    keep_run(&r);
    if (r.count > 1)
      choose(&r);
  }
  return r;
}
