// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof run: runs a program with options of MProf, and shows the results. The
// program keeps its standard streams, its signals and its exit status; mprof
// itself writes only to standard error.

#include "commands/child.h"
#include "commands/doctor_options.h"
#include "commands/input.h"
#include "commands/jit_switches.h"
#include "commands/options.h"
#include "commands/preload.h"
#include "commands/recover.h"
#include "commands/run_processes.h"
#include "commands/show_written.h"
#include "commands/written_files.h"
#include "common/ends_with.h"
#include "common/memory.h"
#include "common/plural.h"
#include "files/shown_path.h"
#include "view/estimate.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  NOT_EXECUTABLE = 126,
  NOT_FOUND = 127,
  // Resident memory in MiB from which on a process writes its memory profile.
  LARGE_MIB = 24,
};

// --- the options of the runtime ---

static void add(FILE *out, const char *name, const char *value) {
  fprintf(out, ":%s=%s", name, value);
}

// Adds the place of this mprof, which need not be in PATH.
static void add_symbolizer(FILE *out) {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0)
    return;
  self[length] = '\0';
  if (!strchr(self, '\''))
    fprintf(out, "external_symbolizer_path='%s':", self);
}

// Returns the value of MPROF_OPTIONS for the program, or NULL after a message.
// is_preloaded: whether the program's children that have nothing to do with
// MProf load the runtime, too. They shall print no line of their own. recovers:
// whether the processes keep their counts in files, for recover_ended.
static char *runtime_options(const struct options *o, const char *directory,
                             bool is_preloaded, bool recovers) {
  char *text = NULL;
  size_t length;
  const char *before = getenv("MPROF_OPTIONS");
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  add_symbolizer(out);
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
  if (o->heapx)
    add(out, "heapx", "1");
  if (o->block)
    add(out, "block_rate", "1");
  if (o->mutex)
    add(out, "mutex_fraction", "1");
  if (o->cpu)
    add(out, "cpu_rate", "99");
  if (o->wall)
    add(out, "wall_rate", "20");
  if (o->trace)
    add(out, "trace", "1");
  if (o->threads)
    add(out, "threads", "1");
  if (o->stuck)
    fputs(":stuck=1:stuck_report=5", out);
  if (o->lock_order)
    add(out, "lock_order", "1");
  for (size_t i = 0; i < o->set.count; i++)
    fprintf(out, ":%s", o->set.items[i]);
  if (directory)
    fprintf(out, ":log_path='%s/mprof.%%e.%%p'", directory);
  if (recovers)
    fprintf(out, ":persist='%s/mprof.%%e.%%p" RECOVER_SUFFIX "'", directory);
  fclose(out);
  return text;
}

// --- the report ---

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
             : "it has allocated too little to be sampled (" HEAP_RATE_OF_ALL
               ")";
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

// Writes the page that mprof html makes of the files, beside them.
static void write_page(const struct options *o, const struct written_files *f) {
  struct options page = {.command = COMMAND_html};
  page.paths = zeroed(f->count, sizeof *page.paths);
  for (size_t i = 0; i < f->count; i++) {
    char *path = f->items[i].path;
    if (!ends_with(path, ".txt") || ends_with(path, ".stuck.txt"))
      page.paths[page.path_count++] = path;
  }
  page.first_count = page.path_count;
  if (page.path_count) {
    const struct written_file *first = &f->items[0];
    char *output =
        text_of("%.*shtml", (int)(first->rest - first->path), first->path);
    page.output = output;
    if (command_html(&page) == STATUS_OK)
      fprintf(stderr, "%spage for a browser: %s\n", o->quiet ? "" : "\n",
              shown_path(output));
    free(output);
  }
  free(page.paths);
}

// Says that the files are not those of the program, but of the process.
static void name_shown(const struct options *o, const struct run_process *p) {
  char *name = run_process_name(p);
  complain(o,
           "%s itself has done next to nothing; shown is its process %ld, %s, "
           "which has done most",
           o->paths[0], p->pid, name);
  free(name);
}

// start_ns: when the program was started. is_preloaded: see explain_no_files.
// records_nothing: a note before the start has said so.
static void report(const struct options *o, const char *directory,
                   const struct child *child, const struct file_names *before,
                   int64_t start_ns, bool is_preloaded, bool records_nothing) {
  struct run_processes r =
      run_processes_started(o, directory, before, child->pid);
  const pid_t shown = r.count ? (pid_t)r.items[0].pid : child->pid;
  struct written_files f = written_files_find(directory, shown, before);
  if (!o->quiet && shown != child->pid)
    name_shown(o, &r.items[0]);
  if (!o->quiet) {
    input_say_losses_once();
    show_written(o, &f, start_ns);
  }
  if (o->html)
    write_page(o, &f);
  const size_t others = f.others.count;
  if (others && !o->quiet) {
    fprintf(stderr, "\n%zu file%s of other processes %s new in ", others,
            plural(others), is_or_are(others));
    style_put(stderr, directory);
    fputs(": children of the program, or programs that ran at the same time\n",
          stderr);
    run_processes_put_commands(&r, f.count > 0, "", stderr);
  }
  if (f.count + others == 0 && !records_nothing && !o->quiet)
    explain_no_files(o, child->status, is_preloaded);
  written_files_free(&f);
  free(r.items);
}

// Checks the options whose values mprof passes on. Returns false after a
// message.
static bool check_options(const struct options *o) {
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
  return heap_rate_is_right(o);
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
  struct preload_facts facts;
  char *library = preload_for(o, o->paths[0], &facts);
  // A program of Go ends by a system call of its own, not through libc.
  const bool recovers = facts.is_go && directory && !user_sets(o, "persist");
  char *options = runtime_options(o, directory, library != NULL, recovers);
  if (!options)
    return complain(o, "%s", strerror(errno));
  if (!o->quiet)
    jit_switches_hint(o);
  jit_switches_set(o);
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
  if (recovers)
    recover_ended(o, directory, &files);
  if (directory && (!o->quiet || o->html))
    report(o, directory, &child, &files,
           start.tv_sec * INT64_C(1000000000) + start.tv_nsec, is_preloaded,
           facts.records_nothing);
  else if (!directory && !o->quiet)
    complain(o, "the files are where log_path in MPROF_OPTIONS says; for a "
                "report, use --output");
  free(directory);
  file_names_free(&files);
  return child_end_as(&child);
}
