// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/worker.h"

#include "common/helper_fork.h"
#include "common/memory.h"
#include "names/answer.h"
#include "names/limits.h"
#include "terminal/screen.h"
#include "terminal/style.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// --- the worker ---

static void work(const struct job *job, const struct places *places, int fd) {
  FILE *out = fdopen(fd, "w");
  if (!out)
    return;
  // libdwfl asks the servers of this variable by itself.
  if (!places->asks_servers)
    unsetenv("DEBUGINFOD_URLS");
  limits_begin(places->asks_servers);
  answer(job, places, out);
  fputc(MESSAGE_END, out);
  fclose(out);
}

// --- the process that asks ---

// Waits for data. Shows on a terminal what takes so long, unless the terminal
// is a screen. Then a signal that asks for the end ends the wait.
static void wait_for(int fd, const char *path, bool *is_shown) {
  enum { LOOK_MS = 100 };
  struct pollfd p = {.fd = fd, .events = POLLIN};
  if (screen_is_on()) {
    while (!screen_signal() && poll(&p, 1, LOOK_MS) <= 0)
      ;
    return;
  }
  if (*is_shown || poll(&p, 1, 1000) != 0 || !isatty(STDERR_FILENO))
    return;
  *is_shown = true;
  fputs("finding names in ", stderr);
  style_put_cut(stderr, path, 60);
}

// Reads what the worker writes, at most `limit` bytes.
static struct slice read_all(int fd, const char *path, size_t limit) {
  struct slice s = {0};
  size_t capacity = 0;
  bool is_shown = false;
  while (s.length < limit) {
    wait_for(fd, path, &is_shown);
    if (screen_signal())
      break;
    s.at = grow(s.at, &capacity, s.length + 65536, 1);
    const ssize_t n = read(fd, s.at + s.length, 65536);
    if (n == 0 || (n < 0 && errno != EINTR))
      break;
    if (n > 0)
      s.length += (size_t)n;
  }
  if (is_shown)
    fputs("\r\033[K", stderr);
  return s;
}

struct slice worker_ask(const struct job *job, const struct places *places) {
  int ends[2];
  fflush(NULL); // what is buffered must not be printed twice
  if (pipe2(ends, O_CLOEXEC) != 0)
    return (struct slice){0};
  const pid_t pid = helper_fork();
  if (pid == 0) {
    close(ends[0]);
    screen_forget();
    work(job, places, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  // The names of an address have at most 32 KiB, but few have more than 1 KiB.
  const size_t limit =
      ((size_t)16 << 20) + (job->count + job->lock_count) * 65536;
  struct slice s = {0};
  if (pid > 0)
    s = read_all(ends[0], job->path, limit);
  close(ends[0]);
  if (pid > 0) {
    kill(pid, SIGKILL); // it has ended, sends too much, or is in the way
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
      ;
  }
  return s;
}
