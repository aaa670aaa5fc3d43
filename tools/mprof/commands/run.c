// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof run: runs a program with options of MProf, and shows the results. The
// program keeps its standard streams, its signals and its exit status; mprof
// itself writes only to standard error.

#include "commands/add_names.h"
#include "commands/child.h"
#include "commands/doctor_options.h"
#include "commands/input.h"
#include "commands/options.h"
#include "commands/preload.h"
#include "commands/show_memory.h"
#include "commands/show_top.h"
#include "commands/written_files.h"
#include "common/ends_with.h"
#include "common/memory.h"
#include "common/plural.h"
#include "common/printable.h"
#include "files/read_profile.h"
#include "tools.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_ROWS = 5, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

enum {
  // Resident memory in MiB from which on a process writes its memory profile.
  LARGE_MIB = 24,
  // If blocks in use are more than this part of the resident memory, in
  // percent,
  // the table of functions says enough.
  MOST = 80,
  // Smallest part and row of the memory table, in percent.
  NOTICEABLE = 5,
  MEMORY_ROWS = 3,
};

// --- the options of the runtime ---

static void add(FILE *out, const char *name, const char *value) {
  fprintf(out, ":%s=%s", name, value);
}

// Returns the value of MPROF_OPTIONS for the program, or NULL after a message.
// is_preloaded: whether the program's children that have nothing to do with
// MProf load the runtime, too. They shall print no line of their own.
static char *runtime_options(const struct options *o, const char *directory,
                             bool is_preloaded) {
  char *text = NULL;
  size_t length;
  const char *before = getenv("MPROF_OPTIONS");
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  // The report begins with the peak, and with the rest of the memory if it is
  // large. A program that the user interrupts shall
  // write its profiles, too, and so shall one that ends by _exit, such as the
  // shell dash. The user's own options come later, so they prevail.
  fprintf(out, "peak=1:memory=%d:dump_on_signal=terminate:dump_on__exit=1:%s%s",
          LARGE_MIB, is_preloaded ? "quiet=1:" : "", before ? before : "");
  if (o->heap_rate)
    add(out, "heap_rate", o->heap_rate);
  if (o->peak)
    add(out, "peak", "1");
  if (o->block)
    add(out, "block_rate", "1");
  if (o->mutex)
    add(out, "mutex_fraction", "1");
  if (o->trace)
    add(out, "trace", "1");
  if (o->threads)
    add(out, "threads", "1");
  if (o->stuck)
    fputs(":stuck=1:stuck_report=5", out);
  for (size_t i = 0; i < o->set.count; i++)
    fprintf(out, ":%s", o->set.items[i]);
  if (directory)
    fprintf(out, ":log_path='%s/mprof.%%e.%%p'", directory);
  fclose(out);
  return text;
}

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
static char *output_directory(const struct options *o) {
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

// --- the report ---

// The end of the names of the profiles of stuck threads.
#define STUCK ".threadleak.pb.gz"

// Prints a command for the file. A path that has other characters than these is
// quoted, so that a shell runs the command.
static void print_command(const char *command, const char *path) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%,:=";
  fputs("mprof ", stderr);
  style_put(stderr, command);
  fputc(' ', stderr);
  if (!path[strspn(path, plain)]) {
    fprintf(stderr, "%s\n", path);
    return;
  }
  fputc('\'', stderr);
  while (*path) {
    const size_t shown = printable_length(path);
    if (shown == 0)
      fputs("'?'", stderr); // a shell finds the file by this pattern
    else if (*path == '\'')
      fputs("'\\''", stderr);
    else
      fwrite(path, 1, shown, stderr);
    path += shown ? shown : printable_skip(path);
  }
  fputs("'\n", stderr);
}

// Shows the largest values of the profile, and the command that shows more.
// Returns false if the profile has no values, and then shows it only if
// shows_empty is true.
static bool show_profile(const struct options *o,
                         const struct written_file *file, int64_t start_ns,
                         const struct style *style, bool shows_empty) {
  const char *path = file->path;
  struct profile *p = profile_new();
  char error[256];
  if (file->is_hidden || input_file_read(p, path) != NULL)
    return false;
  written_file_add_moment(file, p, start_ns);
  add_names(o, p, NAMES_AUTOMATIC);
  struct view_options wanted = {0};
  struct view *v = view_new(p, &wanted, error, sizeof error);
  // A program that has freed everything: show what it had allocated.
  const char *empty = v ? v->type_name : NULL;
  if (v && (wanted.type = input_other_type(v)) != NULL)
    v = view_new(p, &wanted, error, sizeof error);
  if (!v)
    return false;
  struct function_table rows = functions_of(v, false, false);
  if (rows.count == 0 && !shows_empty) {
    functions_free(&rows);
    return false;
  }
  fputc('\n', stderr);
  if (wanted.type) {
    style_put(stderr, empty);
    fputs(" is 0, so these are the values of ", stderr);
    style_put(stderr, wanted.type);
    fputs(":\n", stderr);
  }
  show_top(v, &rows, REPORT_ROWS, GRAIN_FUNCTIONS, stderr, style,
           "the command below with -n 0");
  functions_free(&rows);
  char command[64] = "top";
  if (ends_with(path, STUCK))
    strcpy(command, "stuck");
  else if (wanted.type)
    snprintf(command, sizeof command, "top --sample=%s", wanted.type);
  print_command(command, path);
  return true;
}

// Shows where the memory was when the resident memory was highest, if the heap
// profile does not explain most of it.
static bool show_rest_of_memory(const struct options *o,
                                const struct written_file *file,
                                int64_t start_ns, const struct style *style) {
  struct profile *p = profile_new();
  struct memory_parts m;
  char error[256];
  if (input_file_read(p, file->path) != NULL)
    return false;
  written_file_add_moment(file, p, start_ns);
  add_names(o, p, NAMES_AUTOMATIC);
  struct view *v =
      memory_view(p, (struct view_options){0}, error, sizeof error);
  if (!v || !memory_parts_of(v, &m))
    return false;
  const struct memory_part *blocks = memory_part_find(&m, MPROF_MEMORY_USED);
  if (blocks && blocks->usage.rss > m.total.rss / 100 * MOST)
    return false;
  const int64_t least = m.total.rss / 100 * NOTICEABLE;
  fputc('\n', stderr);
  show_memory(v, &m,
              &(struct memory_shown){.limit = MEMORY_ROWS,
                                     .least = least,
                                     .least_part = least,
                                     .is_short = true},
              stderr, style);
  print_command("memory", file->path);
  return true;
}

// Shows the longest waits of a trace, in a child, because mprof trace top
// prints to standard output. Returns whether it could be read.
static bool show_trace(char *path) {
  int status = 1;
  fputc('\n', stderr);
  const pid_t pid = fork();
  if (pid == 0) {
    static char name[] = "mprof trace top", count[] = "--count=3";
    char *arguments[] = {name, count, path, NULL};
    trace_tool_name = name;
    optind = 0; // getopt has read the arguments of mprof run; begin anew
    _exit(dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? 1 : trace_top(3, arguments));
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

// Says that no thread has waited or is stuck, if the profile at `path`, which
// is empty, is one of waits or of stuck threads.
static void say_if_no_waits(const char *path) {
  if (ends_with(path, ".block.pb.gz"))
    fputs("\nblock profile: no wait was recorded\n", stderr);
  if (ends_with(path, ".mutex.pb.gz"))
    fputs("\nmutex profile: no thread has waited for a lock\n", stderr);
  if (ends_with(path, STUCK))
    fputs("\nthreadleak profile: no stuck thread was found\n", stderr);
}

static bool is_one_of(int number, const int *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (numbers[i] == number)
      return true;
  return false;
}

// Returns whether the text, a value of MPROF_OPTIONS, has a value for the
// option.
static bool has_option(const char *text, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = text; at && (at = strstr(at, name)) != NULL; at++)
    if ((at == text || strchr(":, \t\n", at[-1])) && at[length] == '=')
      return true;
  return false;
}

// Returns whether the user has set the option.
static bool user_sets(const struct options *o, const char *name) {
  bool sets = has_option(getenv("MPROF_OPTIONS"), name);
  for (size_t i = 0; i < o->set.count; i++)
    sets |= has_option(o->set.items[i], name);
  return sets;
}

// Returns why a program has no profile although it could write one.
static const char *why_empty(const struct options *o) {
  return o->heap_rate || user_sets(o, "heap_rate") || user_sets(o, "heap")
             ? "it has recorded nothing"
             : "it has allocated too little to be sampled (--heap-rate=1 "
               "counts every block)";
}

// Says that the signal has ended the program, why the program has written no
// profile, and how it would write one.
static void explain_signal(const struct options *o, int number) {
  static const int terminate[] = {SIGHUP, SIGINT, SIGTERM};
  static const int crash[] = {SIGABRT, SIGBUS,  SIGFPE,
                              SIGILL,  SIGSEGV, SIGTRAP};
  const bool has_choice = user_sets(o, "dump_on_signal");
  const char *known = sigabbrev_np(number);
  char digits[12], rest[400];
  snprintf(digits, sizeof digits, "%d", number);
  const char *name = known ? known : digits;
  if (user_sets(o, "persist"))
    strcpy(rest, " before it wrote its profiles; mprof recover makes them from "
                 "the file of the option persist, if anything was recorded");
  else if (number == SIGKILL)
    strcpy(rest, " before it wrote its profiles; --option=persist=FILE keeps "
                 "the counts of a killed program, and mprof recover FILE "
                 "reads them, if anything was recorded");
  else if (has_choice ||
           is_one_of(number, terminate, sizeof terminate / sizeof *terminate))
    snprintf(rest, sizeof rest,
             ", which has written no profile: %s, it has a handler of its own "
             "for the signal (--option=snapshot_every=10s writes profiles "
             "while it runs)%s, or a message above says why",
             why_empty(o),
             has_choice ? ", dump_on_signal lacks the signal" : "");
  else
    snprintf(rest, sizeof rest,
             " before it wrote its profiles; --option=dump_on_signal="
             "terminate+%s writes them if anything was recorded",
             is_one_of(number, crash, sizeof crash / sizeof *crash) ? "crash"
                                                                    : name);
  complain(o, "signal %s%s has ended the program%s", known ? "SIG" : "", name,
           rest);
}

// Says why the program has written no file. is_preloaded: mprof has loaded the
// runtime into it, so mprof doctor has nothing to say about the program.
static void explain_no_files(const struct options *o, int status,
                             bool is_preloaded) {
  if (WIFSIGNALED(status))
    explain_signal(o, WTERMSIG(status));
  else
    complain(o,
             "the program has written no profile: %s, it has ended by exec or "
             "by an _exit that MProf does not see, or a message of the program "
             "above%s%s says why",
             why_empty(o), is_preloaded ? "" : " or mprof doctor ",
             is_preloaded ? "" : o->paths[0]);
}

// start_ns: when the program was started. is_preloaded: see explain_no_files.
// records_nothing: a note before the start has said so.
static void report(const struct options *o, const char *directory,
                   const struct child *child, const struct file_names *before,
                   int64_t start_ns, bool is_preloaded, bool records_nothing) {
  static const char *const shown[] = {".peak.pb.gz", ".heap.pb.gz",
                                      ".block.pb.gz", ".mutex.pb.gz", STUCK};
  const struct style style = style_of_error(o->colour);
  struct written_files f = written_files_find(directory, child->pid, before);
  bool has_any = false;
  input_say_losses_once();
  for (size_t i = 0; i < f.count; i++)
    if (ends_with(f.items[i].path, ".memory.pb.gz"))
      has_any |= show_rest_of_memory(o, &f.items[i], start_ns, &style);
  for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
    for (size_t i = 0; i < f.count; i++)
      if (ends_with(f.items[i].path, shown[k])) {
        const bool has_values =
            show_profile(o, &f.items[i], start_ns, &style, false);
        has_any |= has_values;
        if (!has_values)
          say_if_no_waits(f.items[i].path);
      }
  for (size_t i = 0; i < f.count && !has_any; i++)
    has_any =
        ends_with(f.items[i].path, ".trace") && show_trace(f.items[i].path);
  for (size_t i = 0; i < f.count && !has_any; i++)
    has_any = ends_with(f.items[i].path, ".heap.pb.gz") &&
              show_profile(o, &f.items[i], start_ns, &style, true);
  for (size_t i = 0; i < f.count; i++) {
    if (ends_with(f.items[i].path, ".trace"))
      print_command("trace top", f.items[i].path);
    if (ends_with(f.items[i].path, ".threads.pb.gz"))
      print_command("threads", f.items[i].path);
    if (ends_with(f.items[i].path, ".stuck.txt"))
      print_command("stuck", f.items[i].path);
  }
  if (f.others) {
    fprintf(stderr, "\n%zu file%s of other processes %s new in ", f.others,
            plural(f.others), is_or_are(f.others));
    style_put(stderr, directory);
    fputs(": children of the program, or programs that ran at the same time\n",
          stderr);
  }
  if (f.count + f.others == 0 && !records_nothing)
    explain_no_files(o, child->status, is_preloaded);
  written_files_free(&f);
}

// Checks the options whose values mprof passes on. Returns false after a
// message.
static bool check_options(const struct options *o) {
  const char *rate = o->heap_rate;
  for (size_t i = 0; i < o->set.count; i++) {
    const char *option = o->set.items[i];
    if (has_option(option, "log_path")) {
      complain(o, "--option=%s: to choose the place of the files, use --output",
               option);
      return false;
    }
    if (!doctor_accepts_option(option))
      return false;
  }
  if (rate) {
    const size_t digits = strspn(rate, "0123456789");
    const char *unit = rate + digits;
    if (digits == 0 || (*unit && (!strchr("kmgKMG", *unit) || unit[1]))) {
      complain(o, "--heap-rate=%s is not a number of bytes such as 64k", rate);
      return false;
    }
  }
  return true;
}

int command_run(const struct options *o) {
  const char *before = getenv("MPROF_OPTIONS");
  // The files are where the user's own log_path says, unless --output says it.
  const bool keeps_path = !o->output && has_option(before, "log_path");
  if (!check_options(o))
    return STATUS_ERROR;
  char *directory = keeps_path ? NULL : output_directory(o);
  if (!directory && !keeps_path)
    return STATUS_ERROR;
  bool records_nothing;
  char *library = preload_for(o, o->paths[0], &records_nothing);
  char *options = runtime_options(o, directory, library != NULL);
  if (!options)
    return complain(o, "%s", strerror(errno));
  struct file_names files = file_names_list(directory);
  struct timespec start;
  clock_gettime(CLOCK_REALTIME, &start);
  struct child child;
  const int error = child_run(o->paths, options, library, &child);
  const bool is_preloaded = library != NULL;
  free(options);
  free(library);
  if (error) {
    complain(o, "%s: %s", o->paths[0], strerror(error));
    return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
  }
  if (directory && !o->quiet)
    report(o, directory, &child, &files,
           start.tv_sec * INT64_C(1000000000) + start.tv_nsec, is_preloaded,
           records_nothing);
  else if (!directory && !o->quiet)
    complain(o, "the files are where log_path in MPROF_OPTIONS says; for a "
                "report, use --output");
  free(directory);
  file_names_free(&files);
  return child_end_as(&child);
}
