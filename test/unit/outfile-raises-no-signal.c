// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a write to a pipe without a reader, or beyond the limit of file
// sizes, fails without SIGPIPE or SIGXFSZ. A signal that was already pending
// and the thread's signal mask do not change.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app

#include "core.h"

#include "sys/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t signals;
static void on_signal(int number) {
  (void)number;
  signals++;
}

static void fail(int pipe_end, int file) {
  static char data[8192];
  CHECK_EQ(mprof_os_write_all(pipe_end, data, sizeof(data)), -EPIPE);
  CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
  CHECK_EQ(mprof_os_write_all(file, data, sizeof(data)), -EFBIG);
}

static void expect(const sigset_t *set, int number, int is_in) {
  CHECK_EQ(sigismember(set, number), is_in);
}

int main(void) {
  int fd[2];
  CHECK_EQ(pipe(fd), 0);
  close(fd[0]);
  int file = open("file", O_WRONLY | O_CREAT, 0600);
  CHECK(file >= 0);
  const struct rlimit limit = {4096, 4096};
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);

  fail(fd[1], file); // by default these signals end the process
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  fail(fd[1], file);
  signal(SIGPIPE, on_signal);
  signal(SIGXFSZ, on_signal);
  fail(fd[1], file);
  CHECK_EQ(signals, 0);
  sigset_t set;
  CHECK_EQ(sigprocmask(SIG_SETMASK, NULL, &set), 0);
  expect(&set, SIGPIPE, 0);
  expect(&set, SIGXFSZ, 0);

  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGPIPE);
  CHECK_EQ(sigprocmask(SIG_BLOCK, &own, NULL), 0);
  raise(SIGPIPE);
  fail(fd[1], file);
  CHECK_EQ(sigpending(&set), 0);
  expect(&set, SIGPIPE, 1);
  expect(&set, SIGXFSZ, 0);
  CHECK_EQ(sigprocmask(SIG_SETMASK, NULL, &set), 0);
  expect(&set, SIGPIPE, 1);
  CHECK_EQ(sigprocmask(SIG_UNBLOCK, &own, NULL), 0);
  CHECK_EQ(signals, 1);
  return 0;
}
