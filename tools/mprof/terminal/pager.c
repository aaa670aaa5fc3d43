// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "terminal/pager.h"

#include "common/helper_fork.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager; // 0: no pager runs

static const char *pager_name(void) {
  const char *name = getenv("MPROF_PAGER");
  if (!name)
    name = getenv("PAGER");
  return name ? name : "less";
}

_Noreturn static void run_pager(const char *name, int input) {
  dup2(input, STDIN_FILENO);
  // less: end at once if the text fits the screen, and pass on colours.
  setenv("LESS", "FRX", 0);
  execl("/bin/sh", "sh", "-c", name, (char *)NULL);
  _exit(127);
}

// Returns whether the program of the command line is there. The shell would
// otherwise end at once, and the output would be lost.
static int is_runnable(const char *name) {
  char word[256];
  int length = 0;
  // Skip variables, as in "LESS=X less".
  do {
    name += length;
    if (sscanf(name, "%255s%n", word, &length) != 1)
      return 0;
  } while (strchr(word, '=') && !strchr(word, '/'));
  if (strchr(word, '/'))
    return access(word, X_OK) == 0;
  const char *path = getenv("PATH");
  while (path && *path) {
    char file[4096];
    const size_t length = strcspn(path, ":");
    snprintf(file, sizeof file, "%.*s/%s", (int)length, path, word);
    if (access(file, X_OK) == 0)
      return 1;
    path += length + (path[length] == ':');
  }
  return 0;
}

void pager_start(void) {
  const char *name = pager_name();
  int ends[2];
  if (!isatty(STDOUT_FILENO) || strcmp(name, "cat") == 0 ||
      !is_runnable(name) || pipe(ends) != 0)
    return;
  fflush(stdout);
  pager = helper_fork();
  if (pager == 0) {
    close(ends[1]);
    run_pager(name, ends[0]);
  }
  close(ends[0]);
  if (pager > 0) {
    dup2(ends[1], STDOUT_FILENO);
    // The user may leave the pager before the end of the text.
    signal(SIGPIPE, SIG_IGN);
    // less, not mprof, decides what an interrupt means.
    signal(SIGINT, SIG_IGN);
  } else {
    pager = 0;
  }
  close(ends[1]);
}

void pager_finish(void) {
  if (pager == 0)
    return;
  fflush(stdout);
  close(STDOUT_FILENO);
  int status = 0;
  while (waitpid(pager, &status, 0) < 0 && errno == EINTR)
    ;
  pager = 0;
  // 126 and 127: the shell could not run the pager.
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    fprintf(stderr,
            "mprof: the pager \"%s\" ended with status %d; to do without it, "
            "use --no-pager\n",
            pager_name(), WEXITSTATUS(status));
  // The stream has no file any more; nothing more may be written.
  if (!freopen("/dev/null", "w", stdout))
    return;
}
