// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/check_values.h"

#include "commands/preload.h"
#include "terminal/style.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Options that come after those of the user, so that the process has no effect.
#define WITHOUT_EFFECT                                                         \
  ":quiet=1:help=0:profile=0:report=0:log_path=/dev/null:listen=:persist=:"    \
  "alloc_log="

// The new process. Writes the messages to the descriptor `to`.
static void run_with(const char *text, const char *library, int to) {
  char *options = NULL;
  const int null = open("/dev/null", O_RDWR);
  if (asprintf(&options, "%s" WITHOUT_EFFECT, text) < 0 || null < 0 ||
      dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(to, 2) < 0 ||
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
  return has_any;
}

bool runtime_accepts(const char *text) {
  int fds[2];
  char *library = preload_library();
  // The dynamic linker takes such a path for several paths.
  if (!library || strpbrk(library, " :") || pipe2(fds, O_CLOEXEC) != 0) {
    free(library);
    return true;
  }
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0)
    run_with(text, library, fds[1]);
  close(fds[1]);
  const bool has_messages = print_messages(fds[0]);
  if (pid > 0)
    waitpid(pid, NULL, 0);
  free(library);
  return !has_messages;
}
