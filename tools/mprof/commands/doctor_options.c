// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/doctor_options.h"

#include "commands/preload.h"
#include "common/helper_fork.h"
#include "options/flags.h"
#include "process/helper_environment.h"
#include "sys/message.h"
#include "terminal/style.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// --- values whose syntax only the runtime knows ---

// Prints the options of the new process. Those of the user have no effect in a
// process that ends at once. Returns false if a value cannot be quoted.
static bool print_options(FILE *out, const struct mprof_flags *flags) {
  const struct {
    const char *name, *value;
  } options[] = {{"block_kinds", flags->block_kinds},
                 {"dump_on_signal", flags->dump_on_signal},
                 {"trace_format", flags->trace_format},
                 {"trace_last", flags->trace_last},
                 {"snapshot_every", flags->snapshot_every},
                 {"snapshot_at_rss", flags->snapshot_at_rss},
                 {"control_signal", flags->control_signal}};
  fputs("quiet=1:profile=0:report=0:log_path=/dev/null", out);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    if (strchr(options[i].value, '\''))
      return false;
    fprintf(out, ":%s='%s'", options[i].name, options[i].value);
  }
  return true;
}

// Returns the value of MPROF_OPTIONS for the new process, or NULL.
static char *options_of(const struct mprof_flags *flags) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  const bool is_whole = print_options(out, flags);
  if (fclose(out) == 0 && is_whole)
    return text;
  free(text);
  return NULL;
}

// The new process. Writes the messages to the descriptor `to`. The runtime must
// start in it, although mprof starts it for itself.
static void run_with(const char *options, const char *library, int to) {
  // An ignored signal is no mistake in the options.
  for (int i = 1; i < NSIG; i++)
    signal(i, SIG_DFL);
  const int null = open("/dev/null", O_RDWR);
  const int from_null = fcntl(null, F_DUPFD, 3),
            messages = fcntl(to, F_DUPFD, 3);
  if (dup2(from_null, 0) < 0 || dup2(from_null, 1) < 0 ||
      dup2(messages, 2) < 0 || unsetenv(MPROF_HELPER_VARIABLE) != 0 ||
      setenv("MPROF_OPTIONS", options, 1) != 0 ||
      setenv("LD_PRELOAD", library, 1) != 0)
    _exit(1);
  execl("/proc/self/exe", "mprof", "--version", (char *)NULL);
  _exit(1);
}

// Prints the runtime's messages. Returns whether there are any.
static bool print_messages(int from) {
  static const char prefix[] = "mprof: ";
  char line[1024];
  bool has_any = false;
  FILE *in = fdopen(from, "r");
  while (in && fgets(line, sizeof line, in)) {
    if (strncmp(line, prefix, sizeof prefix - 1) != 0)
      continue; // a message of the dynamic linker
    line[strcspn(line, "\n")] = '\0';
    style_put(stderr, line);
    fputc('\n', stderr);
    has_any = true;
  }
  if (in)
    fclose(in);
  else
    close(from);
  return has_any;
}

// Starts a process of this program that loads the runtime with the values of
// such options, and prints the runtime's messages to standard error. Returns
// false if there are any. Does not check paths and addresses, because the
// options may be those of a process of another user: the new process gets no
// option that makes it open, create or execute a file. Returns true if the
// runtime's library cannot be loaded.
static bool runtime_accepts(const struct mprof_flags *flags) {
  int fds[2];
  char *library = preload_library(), *options = options_of(flags);
  bool is_good = true;
  fflush(stdout);
  // The dynamic linker takes a path with such a character for several paths.
  if (library && options && !strpbrk(library, " :") &&
      pipe2(fds, O_CLOEXEC) == 0) {
    const pid_t pid = helper_fork();
    if (pid == 0)
      run_with(options, library, fds[1]);
    close(fds[1]);
    is_good = !print_messages(fds[0]);
    if (pid > 0)
      waitpid(pid, NULL, 0);
  }
  free(options);
  free(library);
  return is_good;
}

// --- the options ---

struct row {
  const char *name, *value, *help;
};

static void print_row(const char *name, const char *value, const char *help) {
  printf("option   %s=", name);
  style_put(stdout, value);
  printf("\n         %s\n", help);
}

static void print_number(const char *name, uint64_t value, const char *help) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  print_row(name, text, help);
}

static struct mprof_flags now, before; // with the options, and the defaults
static unsigned mistakes;              // in the text that was parsed last

// Returns false, and does nothing, if the text was parsed last.
static bool parse(const char *text) {
  static char *parsed;
  if (parsed && strcmp(parsed, text) == 0)
    return false;
  free(parsed);
  parsed = strdup(text);
  mprof_message_init();
  before = mprof_flags;
  now = mprof_flags;
  fflush(stdout);
  mistakes = mprof_flags_parse(&now, text, "MPROF_OPTIONS");
  return true;
}

bool doctor_has_new_mistakes(const char *text) {
  return parse(text) && (mistakes != 0 || (*text && !runtime_accepts(&now)));
}

void doctor_explain_options(const char *text) {
  bool has_any = false;
  parse(text);
#define MPROF_FLAG_BOOL(Name, Default, Change, Help)                           \
  if (now.Name != before.Name) {                                               \
    print_number(#Name, now.Name, Help);                                       \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help)                 \
  if (now.Name != before.Name) {                                               \
    print_number(#Name, now.Name, Help);                                       \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_STR(Name, Default, Change, Help)                            \
  if (strcmp(now.Name, before.Name) != 0) {                                    \
    print_row(#Name, now.Name, Help);                                          \
    has_any = true;                                                            \
  }
#define MPROF_FLAG_LIST(Name, Default, Change, Help)                           \
  MPROF_FLAG_STR(Name, Default, Change, Help)
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help)                        \
  MPROF_FLAG_STR(Name, Default, Change, Help)
#include "options/flags.def"
  if (!has_any)
    puts("option   all options have their defaults");
}

bool doctor_accepts_option(const char *text) {
  static struct mprof_flags unused;
  mprof_message_init();
  unused = mprof_flags;
  return mprof_flags_parse(&unused, text, "--option") == 0;
}

struct kind {
  const char *name, *option; // option: switches it on
  bool is_on;
};

// Prints the kinds that are on, or those that are off and their options.
static void print_kinds(const char *title, const struct kind *kinds,
                        size_t count, bool is_on) {
  bool has_any = false;
  for (size_t i = 0; i < count; i++) {
    const struct kind *k = &kinds[i];
    if (k->is_on != is_on)
      continue;
    fputs(has_any ? ", " : title, stdout);
    fputs(k->name, stdout);
    if (!is_on)
      printf(" (%s)", k->option);
    has_any = true;
  }
  if (has_any)
    putchar('\n');
}

void doctor_explain_kinds(const char *text) {
  parse(text);
  const bool has_trace = now.trace || now.trace_last[0] != '\0' ||
                         now.trace_last_mb != 0 || now.trace_slow_task != 0;
  const struct kind kinds[] = {
      {"heap", "heap_rate=512k", now.heap_rate != 0},
      {"mmap", "mmap=1", now.mmap},
      {"block", "block_rate=1", now.block_rate != 0},
      {"mutex", "mutex_fraction=1", now.mutex_fraction != 0},
      {"threadcreate", "threadcreate=1", now.threadcreate},
      {"threads", "threads=1", now.threads},
      {"stuck", "stuck=1", now.stuck || now.stuck_report != 0},
      {"trace", "trace=1", has_trace},
  };
  enum { COUNT = sizeof kinds / sizeof *kinds };
  print_kinds("ok       kinds that are on: ", kinds, COUNT, true);
  print_kinds("ok       kinds that are off, and options that switch them on: ",
              kinds, COUNT, false);
}
