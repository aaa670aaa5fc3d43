// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/check_values.h"

#include "commands/preload.h"
#include "common/helper_fork.h"
#include "helper/helper_environment.h"
#include "terminal/style.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

bool runtime_accepts(const struct mprof_flags *flags) {
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
