// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/group_watcher.h"

#include "common/helper_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// An answer takes microseconds. A watcher without an answer is given up.
enum { PATIENCE_MS = 1000 };

// The watcher blocks all signals, so they stay pending until it takes them. It
// ends when mprof ends, because then nobody can ask it.
_Noreturn static void watch(int questions, int answers) {
  static const struct timespec now = {0, 0};
  unsigned char number;
  sigset_t asked;
  while (read(questions, &number, 1) == 1) {
    sigemptyset(&asked);
    sigaddset(&asked, number);
    const unsigned char has_seen = sigtimedwait(&asked, NULL, &now) == number;
    if (write(answers, &has_seen, 1) != 1)
      break;
  }
  _exit(0);
}

void group_watcher_start(struct group_watcher *w) {
  int questions[2], answers[2];
  *w = (struct group_watcher){.ask = -1, .answer = -1};
  if (pipe2(questions, O_CLOEXEC) != 0)
    return;
  if (pipe2(answers, O_CLOEXEC) != 0) {
    close(questions[0]);
    close(questions[1]);
    return;
  }
  w->pid = helper_fork();
  if (w->pid == 0) {
    close(questions[1]);
    close(answers[0]);
    watch(questions[0], answers[1]);
  }
  close(questions[0]);
  close(answers[1]);
  w->ask = questions[1];
  w->answer = answers[0];
  if (w->pid < 0)
    group_watcher_end(w);
}

bool group_watcher_has_seen(struct group_watcher *w, int number) {
  if (w->ask < 0)
    return false;
  // The kernel may not have sent the signal to the watcher yet. setpgid changes
  // nothing, but it waits for a kernel lock (tasklist_lock) that kill holds
  // until the whole group has the signal.
  setpgid(0, getpgrp());
  // It may be stopped, if the whole group was.
  kill(w->pid, SIGCONT);
  const unsigned char question = (unsigned char)number;
  unsigned char has_seen;
  struct pollfd from = {.fd = w->answer, .events = POLLIN};
  if (write(w->ask, &question, 1) == 1 && poll(&from, 1, PATIENCE_MS) == 1 &&
      read(w->answer, &has_seen, 1) == 1)
    return has_seen;
  close(w->ask);
  w->ask = -1;
  return false;
}

void group_watcher_end(struct group_watcher *w) {
  if (w->ask >= 0)
    close(w->ask);
  if (w->answer >= 0)
    close(w->answer);
  if (w->pid > 0) {
    // It ends by itself, unless it is stopped.
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
      ;
  }
  *w = (struct group_watcher){.ask = -1, .answer = -1};
}
