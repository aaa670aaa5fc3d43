// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the end of a process, with names of functions, makes as many system
// calls with the highest limit of descriptors as with a low one. It starts two
// processes, mprof and its helper. The next such process starts
// none, because the names were kept. Neither does a process, or a forked child,
// that has recorded nothing.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O1 -I%src/test/Inputs %s -o app
// RUN: %clang -D_GNU_SOURCE -DTRACER -I%src/test/Inputs %s -o tracer
// RUN: %run{heap_rate=1:log_path=low:symbolizer_cache=0} ./tracer 32 ./app allocate > low.txt
// RUN: %run{heap_rate=1:log_path=high:symbolizer_cache=0} ./tracer max ./app allocate > high.txt
// RUN: grep 'processes 3' low.txt && diff low.txt high.txt
// RUN: grep 'in allocate {{/.*}}exit-system-calls.c:' high.txt || \
// RUN:   grep -r 'in allocate .*exit-system-calls.c:' high*.txt
// RUN: %run{heap_rate=1:log_path=kept} XDG_CACHE_HOME=$PWD/cache ./app allocate
// RUN: %run{heap_rate=1:log_path=next} XDG_CACHE_HOME=$PWD/cache ./tracer max \
// RUN:   ./app allocate > next.txt
// RUN: grep 'processes 1' next.txt && \
// RUN:   grep 'in allocate .*exit-system-calls.c:' next.*.txt
// The same with a trace.
// RUN: %run{trace=1:heap_rate=1:log_path=one} XDG_CACHE_HOME=$PWD/ones ./app allocate
// RUN: %run{trace=1:heap_rate=1:log_path=one} XDG_CACHE_HOME=$PWD/ones ./tracer max \
// RUN:   ./app allocate > one.txt
// RUN: grep 'processes 1' one.txt
// RUN: %run{log_path=none} ./tracer max ./app > none.txt
// RUN: grep 'processes 1' none.txt && not ls none.heap.pb.gz
// RUN: %run{log_path=fork} ./tracer max ./app fork > fork.txt
// RUN: grep 'processes 2' fork.txt

#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef TRACER

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

// Runs a program and counts its processes, and the system calls of each of
// them. Prints the calls as "few" or "many", because their number varies a
// little.
int main(int argc, char **argv) {
  CHECK(argc > 2);
  struct rlimit limit;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = argv[1][0] == 'm' ? limit.rlim_max : strtoul(argv[1], 0, 10);
  CHECK(limit.rlim_cur > 20);
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  pid_t first = fork();
  if (first == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execv(argv[2], argv + 2);
    _exit(127);
  }
  int status, processes = 0;
  long calls = 0;
  CHECK_EQ(waitpid(first, &status, 0), first);
  CHECK_EQ(ptrace(PTRACE_SETOPTIONS, first, 0,
                  PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                      PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE),
           0);
  processes++;
  ptrace(PTRACE_SYSCALL, first, 0, 0);
  for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status))
      continue;
    const int sig = WSTOPSIG(status);
    const int event = status >> 16;
    calls += sig == (SIGTRAP | 0x80);
    processes += event != 0;
    const bool passes = event == 0 && sig != (SIGTRAP | 0x80) &&
                        sig != SIGTRAP && sig != SIGSTOP;
    ptrace(PTRACE_SYSCALL, pid, 0, passes ? sig : 0);
  }
  printf("processes %d, system calls: %s\n", processes,
         calls < 4000 ? "few" : "many");
  return 0;
}

#else

static void *volatile sink;

__attribute__((noinline)) static void allocate(void) { sink = malloc(300000); }

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1 && strcmp(argv[1], "allocate") == 0)
    allocate();
  if (argc > 1 && strcmp(argv[1], "fork") == 0) {
    pid_t pid = fork();
    if (pid == 0)
      exit(0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
  }
  return 0;
}

#endif
