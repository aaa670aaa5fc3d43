// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof run: runs a program with options of MProf, and shows the results. The
// program keeps its standard streams, its signals and its exit status; mprof
// itself writes only to standard error.

#include "commands/input.h"
#include "commands/options.h"
#include "commands/show_top.h"
#include "common/memory.h"
#include "files/read_profile.h"
#include "names/elf_info.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_ROWS = 5, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

// --- the options of the runtime ---

static void add(FILE *out, const char *name, const char *value) {
  fprintf(out, ":%s=%s", name, value);
}

// Returns the value of MPROF_OPTIONS for the program, or NULL after a message.
static char *runtime_options(const struct options *o, const char *directory) {
  char *text = NULL;
  size_t length;
  const char *before = getenv("MPROF_OPTIONS");
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  fputs(before ? before : "", out);
  if (o->heap_rate)
    add(out, "heap_rate", o->heap_rate);
  if (o->block)
    add(out, "block_rate", "1");
  if (o->mutex)
    add(out, "mutex_fraction", "1");
  if (o->trace)
    add(out, "trace", "1");
  if (o->threads)
    add(out, "threads", "1");
  if (o->stuck)
    add(out, "stuck", "1");
  for (size_t i = 0; i < o->set.count; i++)
    fprintf(out, ":%s", o->set.items[i]);
  if (directory)
    fprintf(out, ":log_path='%s/mprof.%%e.%%p'", directory);
  fclose(out);
  return text;
}

// Returns the absolute path of the directory for the files. Makes the directory
// if it does not exist. Returns NULL after a message.
static char *output_directory(const struct options *o) {
  const char *wanted = o->output ? o->output : ".";
  if (mkdir(wanted, 0777) != 0 && errno != EEXIST) {
    complain(o, "%s: %s", wanted, strerror(errno));
    return NULL;
  }
  char *path = realpath(wanted, NULL);
  if (!path) {
    complain(o, "%s: %s", wanted, strerror(errno));
  } else if (strpbrk(path, "'%") || access(path, W_OK) != 0) {
    complain(o, "%s: %s", path,
             strpbrk(path, "'%") ? "the path contains ' or %; use --output=DIR"
                                 : strerror(errno));
    free(path);
    path = NULL;
  }
  return path;
}

// Says so if the program is an ELF file without MProf. Libraries of the program
// may contain MProf, so this is only a note.
static void note_missing(const struct options *o, const char *name) {
  struct elf_info info;
  char *path = elf_find_program(name);
  if (path && elf_info_read(path, &info) == NULL) {
    bool has_library = false;
    for (size_t i = 0; i < info.needed_count; i++)
      has_library |= strncmp(info.needed[i], "libmprof_rt", 11) == 0;
    if (info.is_elf && !info.has_runtime && !info.needs_runtime && !has_library)
      complain(o,
               "note: %s is not built with MProf, so it records nothing; "
               "compile and link it with mprof-clang -fmprof",
               path);
    elf_info_free(&info);
  }
  free(path);
}

// --- the program ---

static volatile sig_atomic_t child;

// A signal of the terminal goes to the program, too. Other signals are sent to
// mprof alone, so pass them on.
static void pass_on(int number, siginfo_t *info, void *context) {
  (void)context;
  const int error = errno;
  if (child > 0 && info->si_code <= 0)
    kill((pid_t)child, number);
  errno = error;
}

static const int passed[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                             SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
enum { PASSED = sizeof passed / sizeof *passed };

// In the new process: runs the program, or sends errno through the pipe.
_Noreturn static void exec_program(char *const *argv, const char *options,
                                   const sigset_t *mask, int failure) {
  setenv("MPROF_OPTIONS", options, 1);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(argv[0], argv);
  const int error = errno;
  // If the pipe is broken, mprof has ended.
  if (write(failure, &error, sizeof error) < 0)
    _exit(1);
  _exit(1);
}

// Starts the program. Returns 0 or an errno value.
static int start(char *const *argv, const char *options) {
  int ends[2], error = 0;
  sigset_t all, mask;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return errno;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &mask);
  const pid_t pid = fork();
  if (pid < 0)
    error = errno;
  if (pid == 0)
    exec_program(argv, options, &mask, ends[1]);
  child = pid;
  struct sigaction action = {.sa_sigaction = pass_on,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
  for (size_t i = 0; i < PASSED && !error; i++) {
    struct sigaction old;
    // What the caller ignores, such as SIGHUP under nohup, stays ignored.
    if (sigaction(passed[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(passed[i], &action, NULL);
  }
  sigprocmask(SIG_SETMASK, &mask, NULL);
  close(ends[1]);
  int sent;
  if (!error && read(ends[0], &sent, sizeof sent) == sizeof sent)
    error = sent;
  close(ends[0]);
  return error;
}

static int wait_for_program(void) {
  int status = 0;
  while (waitpid((pid_t)child, &status, 0) < 0 && errno == EINTR)
    ;
  return status;
}

// Ends mprof as the program ended.
static int end_as(int status) {
  if (!WIFSIGNALED(status))
    return WEXITSTATUS(status);
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

// --- the report ---

struct found {
  char **paths;
  size_t count, capacity;
  size_t others; // files of other processes
};

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_before(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

// Finds the files that the program has written. began: time of its start.
static struct found find_files(const char *directory, struct timespec began) {
  struct found f = {0};
  char pid[24];
  snprintf(pid, sizeof pid, ".%d.", (int)child);
  DIR *dir = opendir(directory);
  for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
    struct stat st;
    char *path = NULL;
    const bool is_new = strncmp(e->d_name, "mprof.", 6) == 0 &&
                        asprintf(&path, "%s/%s", directory, e->d_name) > 0 &&
                        lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
                        !is_before(st.st_mtim, began);
    if (is_new && strstr(e->d_name, pid))
      *APPEND(f.paths, f.count, f.capacity) = path;
    else
      free(path);
    f.others += is_new && !strstr(e->d_name, pid);
  }
  if (dir)
    closedir(dir);
  if (f.count)
    qsort(f.paths, f.count, sizeof *f.paths, by_name);
  return f;
}

static bool ends_with(const char *s, const char *suffix) {
  const size_t a = strlen(s), b = strlen(suffix);
  return a >= b && strcmp(s + a - b, suffix) == 0;
}

// Shows the largest values of the profile, and the command that shows more.
static void show_profile(const char *path, const struct style *style) {
  struct profile *p = profile_new();
  char error[256];
  if (read_profile_file(p, path) != NULL)
    return;
  const struct view_options wanted = {0};
  struct view *v = view_new(p, &wanted, error, sizeof error);
  if (!v)
    return;
  struct function_table rows = functions_of(v, false, false);
  fputc('\n', stderr);
  show_top(v, &rows, REPORT_ROWS, GRAIN_FUNCTIONS, stderr, style);
  functions_free(&rows);
  fprintf(stderr, "mprof top %s\n", path);
}

static void report(const struct options *o, const char *directory,
                   struct timespec began) {
  static const char *const shown[] = {".heap.pb.gz", ".block.pb.gz",
                                      ".mutex.pb.gz", ".threadleak.pb.gz"};
  const struct style style = style_of_error(o->colour);
  struct found f = find_files(directory, began);
  for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
    for (size_t i = 0; i < f.count; i++)
      if (ends_with(f.paths[i], shown[k]))
        show_profile(f.paths[i], &style);
  for (size_t i = 0; i < f.count; i++) {
    if (ends_with(f.paths[i], ".trace"))
      fprintf(stderr, "\nmprof trace top %s\n", f.paths[i]);
    free(f.paths[i]);
  }
  if (f.others)
    fprintf(stderr, "\n%zu files of child processes are in %s\n", f.others,
            directory);
  if (f.count + f.others == 0)
    complain(o, "the program has written no profile; mprof doctor %s says why",
             o->paths[0]);
  free(f.paths);
}

int command_run(const struct options *o) {
  const char *before = getenv("MPROF_OPTIONS");
  // The files are where the user's own log_path says, unless --output says it.
  const bool keeps_path = !o->output && before && strstr(before, "log_path=");
  char *directory = keeps_path ? NULL : output_directory(o);
  if (!directory && !keeps_path)
    return STATUS_ERROR;
  char *options = runtime_options(o, directory);
  note_missing(o, o->paths[0]);
  // File systems use the coarse clock, too.
  struct timespec began;
  clock_gettime(CLOCK_REALTIME_COARSE, &began);
  const int error = start(o->paths, options);
  free(options);
  if (error) {
    wait_for_program();
    complain(o, "%s: %s", o->paths[0], strerror(error));
    return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
  }
  const int status = wait_for_program();
  if (directory && !o->quiet)
    report(o, directory, began);
  free(directory);
  return end_as(status);
}
