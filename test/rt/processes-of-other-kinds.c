// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a daemon writes a profile of its own, and its parent writes none.
// posix_spawn and system work as without MProf. With follow_fork=0 a forked
// child is not profiled. A child made by _Fork prints why it wrote nothing, and
// its calls of mprof_write_profile fail with ENOSYS.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: export MPROF_OPTIONS=heap_rate=1:format=1:symbolize=0
// RUN: ./app daemon done && cat done && ls mprof.app.*.heap.txt | wc -l | grep -qx 1
// RUN: grep -q '1: 702 \[1: 702\]' mprof.app.*.heap.txt && rm mprof.*
// RUN: ./app spawn > out && grep -qx spawned out && grep -qx system out
// RUN: ls mprof.app.*.heap.txt | wc -l | grep -qx 1 && rm mprof.*
// RUN: ./app _Fork 2> err && ls mprof.app.*.heap.txt | wc -l | grep -qx 1
// RUN: grep "wrote nothing: _Fork, clone or vfork created this process" err && rm mprof.*
// RUN: env MPROF_OPTIONS=$MPROF_OPTIONS:follow_fork=0 ./app fork
// RUN: ls mprof.app.*.heap.txt | wc -l | grep -qx 1 && rm mprof.*
// RUN: ./app fork && ls mprof.app.*.heap.txt | wc -l | grep -qx 2

#include "records.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static void *volatile sink;

static void join(pid_t pid) {
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  sink = malloc(701);
  if (strcmp(how, "daemon") == 0) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) { // daemon ends the process that calls it
      CHECK(daemon(1, 1) == 0);
      free(sink);
      sink = malloc(702);
      return 0;
    }
    close(ends[1]);
    char c;
    join(pid);
    CHECK(read(ends[0], &c, 1) == 0); // the daemon has ended
    close(open(argv[2], O_CREAT | O_WRONLY, 0600));
    _exit(0);
  }
  if (strcmp(how, "spawn") == 0) {
    char *args[] = {"echo", "spawned", NULL};
    pid_t pid;
    CHECK(posix_spawnp(&pid, "echo", NULL, NULL, args, environ) == 0);
    join(pid);
    CHECK(system("echo system") == 0);
  }
  pid_t pid = -1;
  if (strcmp(how, "_Fork") == 0)
    pid = _Fork();
  if (strcmp(how, "fork") == 0)
    pid = fork();
  if (pid == 0) {
    free(sink);
    sink = malloc(703);
    size_t n;
    if (strcmp(how, "_Fork") == 0)
      return mprof_write_profile("heap", "x", 1) == ENOSYS ? 0 : 1;
    const char *options = getenv("MPROF_OPTIONS");
    int is_off = strstr(options, "follow_fork=0") != NULL;
    return mprof_mem_profile(NULL, 0, 1, &n) != (is_off ? ENOSYS : ERANGE);
  }
  if (pid > 0)
    join(pid);
  EXPECT(701, 1, 1, 0);
  return 0;
}
