// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: there is one trace at a time. The functions that start a trace return
// errors for wrong arguments. A stop without a start does nothing. A trace that
// is written to a descriptor begins at the current position, and the descriptor
// stays open. The functions still work after a trace that could not be written.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include -I%src/test/Inputs %s -o calls
// RUN: %run_quiet ./calls
// RUN: tail -c +6 by-fd > by-fd.trace
// RUN: %trace_check -q by-fd.trace by-path.trace
// RUN: test "$(head -c 5 by-fd)" = "12345"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <mprof/mprof.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  char long_path[5000];
  memset(long_path, 'x', sizeof(long_path));
  long_path[sizeof(long_path) - 1] = '\0';
  CHECK(mprof_trace_stop() == 0);
  CHECK(mprof_trace_start(NULL) == EINVAL);
  CHECK(mprof_trace_start("") == EINVAL);
  CHECK(mprof_trace_start(long_path) == ENAMETOOLONG);
  CHECK(mprof_trace_start_fd(-1) == EBADF);

  CHECK(mprof_trace_start("by-path.trace") == 0);
  CHECK(mprof_trace_start("by-path.trace") == EBUSY);
  CHECK(mprof_trace_start_fd(1) == EBUSY);
  CHECK(access("by-path.trace", F_OK) != 0); // not before it is complete
  CHECK(mprof_trace_stop() == 0);
  struct stat before, after;
  CHECK(stat("by-path.trace", &before) == 0 && before.st_size > 16);
  CHECK(mprof_trace_stop() == 0);
  CHECK(stat("by-path.trace", &after) == 0 && after.st_ino == before.st_ino);

  int fd = open("by-fd", O_CREAT | O_WRONLY | O_EXCL, 0600);
  CHECK(fd >= 0 && write(fd, "12345", 5) == 5);
  CHECK(mprof_trace_start_fd(fd) == 0);
  CHECK(mprof_trace_stop() == 0);
  CHECK(lseek(fd, 0, SEEK_CUR) > 16 && close(fd) == 0);

  CHECK(mprof_trace_start("missing/x.trace") == 0);
  CHECK(mprof_trace_stop() == ENOENT);
  CHECK(mprof_trace_start_fd(fd) == 0); // a closed descriptor
  CHECK(mprof_trace_stop() == EBADF);
  CHECK(mprof_trace_start("by-path.trace") == 0); // works after failures
  CHECK(mprof_trace_stop() == 0);
  return 0;
}
