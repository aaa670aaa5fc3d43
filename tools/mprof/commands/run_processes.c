// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/run_processes.h"

#include "commands/add_names.h"
#include "commands/directory.h"
#include "commands/next_command.h"
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

// Returns the sum of the values of the type, or, if that is NULL, of the
// profile's default one.
static double sum_of(const struct run_process *p, const char *kind,
                     const char *type) {
  char *path = profile_kind_beside(p->newest, profile_kind_named(kind));
  if (!path)
    return 0;
  struct profile *profile = profile_new();
  double sum = 0;
  if (input_file_read(profile, path) == NULL)
    sum = (double)profile_sum(
        profile,
        type ? type
             : profile->strings[profile->types[profile_default_type(profile)]
                                    .type]);
  profile_free(profile);
  free(path);
  return sum;
}

// Returns the number of stuck threads and of locks in cycles.
static double findings_of(const struct run_process *p) {
  char *report = profile_kind_beside(p->newest, profile_kind_named("stuck"));
  const bool has_report = report != NULL;
  free(report);
  return has_report + sum_of(p, "threadleak", NULL) +
         sum_of(p, "lockorder", NULL);
}

static double cpu_of(const struct run_process *p) {
  const double cpu = sum_of(p, "cpu", "cpu");
  return cpu > 0 ? cpu : sum_of(p, "wall", "cpu");
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

// Returns the name of the program in mprof.PROGRAM.PID, or NULL.
static const char *name_of(const struct run_process *p, int *length) {
  const char *slash = strrchr(p->stem, '/');
  const char *name = slash ? slash + 1 : p->stem, *end = strrchr(name, '.');
  const char *begin = strchr(name, '.');
  if (p->pid <= 0 || begin >= end)
    return NULL;
  *length = (int)(end - begin - 1);
  return begin + 1;
}

// Returns whether the process is of a program that only starts others in most
// cases.
static bool is_shell(const struct run_process *p) {
  static const char *const names[] = {
      "sh",  "bash", "dash",  "ash",   "busybox", "ksh",   "mksh",
      "zsh", "fish", "ctest", "ninja", "timeout", "xargs", "make"};
  int length = 0;
  const char *name = name_of(p, &length);
  for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == (size_t)length &&
        strncmp(names[i], name, (size_t)length) == 0)
      return true;
  return false;
}

enum {
  SAMPLES_NS = 30000000, // three samples at the rate of mprof run
  LITTLE_MEMORY = 1 << 20,
};

// Returns how many processes Linux has started after the first one, at most,
// before p. It begins again with low numbers.
static long started_after(const struct run_process *first,
                          const struct run_process *p) {
  enum { USUAL_MAX = 32768 };
  const long numbers =
      first->pid < USUAL_MAX && p->pid < USUAL_MAX ? USUAL_MAX : LARGEST_PID;
  const long after = (p->pid - first->pid + numbers) % numbers;
  return after < numbers / 2 ? after : 0;
}

// Returns the index of the process that was started next after the first one.
static size_t next_started(const struct run_processes *r) {
  size_t next = 1;
  for (size_t i = 2; i < r->count; i++)
    if (started_after(&r->items[0], &r->items[i]) <
        started_after(&r->items[0], &r->items[next]))
      next = i;
  return next;
}

// Puts the process that has done most first, if it has done `factor` times what
// the present first one has. Less than `least` may be chance. If a shell is
// first, less than `least_of_shell` may be all that it does to start and await
// programs. Any value of one of these programs is then more, and if none has a
// value, the program that was started first is meant.
static void choose(struct run_processes *r, double factor) {
  static const struct {
    double (*of)(const struct run_process *p);
    double least, least_of_shell;
  } measures[] = {
      {findings_of, 0, 0},
      {cpu_of, SAMPLES_NS, SAMPLES_NS},
      {allocated_by, 0, LITTLE_MEMORY},
      {trace_of, 0, 0},
  };
  const bool begins_with_shell = is_shell(&r->items[0]);
  for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
    size_t best = 0;
    double most = 0, first = 0;
    for (size_t i = 0; i < r->count; i++) {
      const double value = measures[m].of(&r->items[i]);
      if (i == 0)
        first = begins_with_shell ? 0 : factor * value;
      else if (value < first)
        continue;
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
  if (begins_with_shell)
    put_first(r, next_started(r));
}

// Returns whether process p was started after the newest one and ended not long
// before it.
static bool is_of_run(const struct run_process *newest,
                      const struct run_process *p) {
  enum { LONGEST_S = 600 };
  return newest->pid > 0 && p->pid > 0 && started_after(newest, p) > 0 &&
         newest->written.tv_sec - p->written.tv_sec < LONGEST_S;
}

// Leaves out the processes from index `first` on that are not of the run of the
// program.
static void keep_run(struct run_processes *r, size_t first,
                     const struct run_process *program) {
  size_t kept = first;
  for (size_t i = first; i < r->count; i++)
    if (is_of_run(program, &r->items[i]))
      r->items[kept++] = r->items[i];
    else
      free(r->items[i].stem);
  r->count = kept;
}

static void put_newest_first(struct run_processes *r) {
  size_t newest = 0;
  for (size_t i = 1; i < r->count; i++)
    if (is_later(r->items[i].written, r->items[newest].written))
      newest = i;
  put_first(r, newest);
}

// Adds the files of the directory but those with names in `before`.
static void add_files(struct run_processes *r, const struct options *options,
                      const char *directory, const struct file_names *before) {
  const char *suffixes[32] = {NULL};
  for (size_t i = 0; profile_kinds[i].name; i++)
    suffixes[i] = profile_kinds[i].suffix;
  if (!directory_newest_of(directory, suffixes))
    return;
  char *path = text_of("%s", directory);
  struct options one = *options, files;
  one.paths = &path;
  one.path_count = 1;
  if (directory_expand(&one, suffixes, false, &files))
    for (int i = 0; i < files.path_count; i++) {
      const char *slash = strrchr(files.paths[i], '/');
      if (!file_names_have(before, slash ? slash + 1 : files.paths[i]))
        add_file(r, files.paths[i]);
    }
  free(path);
}

struct run_processes run_processes_find(const struct options *options,
                                        const char *directory) {
  struct run_processes r = {0};
  add_files(&r, options, directory, &(const struct file_names){0});
  if (r.count) {
    put_newest_first(&r);
    const struct run_process newest = r.items[0];
    keep_run(&r, 1, &newest);
  }
  if (r.count > 1)
    choose(&r, 1);
  return r;
}

// Returns whether the process has so little in its files that it may only have
// started another one.
static bool has_done_little(const struct run_process *p) {
  enum { FEW_WAITS = 10 };
  return findings_of(p) == 0 && cpu_of(p) < SAMPLES_NS &&
         allocated_by(p) < LITTLE_MEMORY &&
         sum_of(p, "mutex", "contentions") == 0 &&
         sum_of(p, "block", "contentions") < FEW_WAITS;
}

struct run_processes run_processes_started(const struct options *options,
                                           const char *directory,
                                           const struct file_names *before,
                                           long program) {
  enum { FACTOR = 10 };
  struct run_processes r = {0};
  const struct run_process first = {.pid = program};
  bool has_program = false;
  add_files(&r, options, directory, before);
  for (size_t i = 0; i < r.count && !has_program; i++) {
    has_program = r.items[i].pid == program;
    if (has_program)
      put_first(&r, i);
  }
  keep_run(&r, has_program, &first);
  for (size_t i = 1; i < r.count && !has_program; i++)
    if (started_after(&first, &r.items[i]) < started_after(&first, &r.items[0]))
      put_first(&r, i);
  if (r.count > 1 && (!has_program || has_done_little(&r.items[0])))
    choose(&r, FACTOR);
  return r;
}

char *run_process_name(const struct run_process *p) {
  int length = 0;
  const char *name = name_of(p, &length);
  return text_of("%.*s", length, name ? name : "");
}

void run_processes_put_commands(const struct run_processes *r, size_t first,
                                const char *indent, FILE *out) {
  enum { MOST = 5 };
  for (size_t i = first; i < r->count && i < first + MOST; i++) {
    fputs(indent, out);
    next_command_put(out, "explain", r->items[i].stem);
    fputs(".*.pb.gz\n", out);
  }
  if (r->count > first + MOST)
    fprintf(out, "\n%zu more are not shown.\n", r->count - first - MOST);
}
