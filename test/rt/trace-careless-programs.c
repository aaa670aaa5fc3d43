// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof trace check accepts the trace of a program that omits ends of
// regions or ends regions that it never began. If the program closes the
// trace's descriptor and opens a file with the same number, MProf writes
// nothing into that file. If a program closes its first hundred descriptors
// while its threads log messages, the trace is still written. If the program
// changes its directory, the trace is still written to the path chosen when it
// began.
//
// REQUIRES: go-1.23
// RUN: rm -rf %t.dir && mkdir -p %t.dir/elsewhere && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o careless
// RUN: %run_quiet{trace_max_mb=1} ./careless regions
// RUN: %trace_check -q regions.trace
// RUN: %go tool trace -d=parsed regions.trace | FileCheck %s
// RUN: %run_quiet{trace_max_mb=1} ./careless closes
// RUN: not ls closes.trace* 2> /dev/null
// RUN: %run_quiet{trace_max_mb=1} ./careless threads
// RUN: %trace_check -q threads.trace
// RUN: test ! -s own
// RUN: %run_quiet{trace_max_mb=1} ./careless goes
// RUN: %trace_check -q goes.trace
//
// CHECK: RegionBegin {{.*}} Type="outer"
// CHECK: RegionBegin {{.*}} Type="inner"
// CHECK: RegionEnd {{.*}} Type="inner"
// CHECK: RegionEnd {{.*}} Type="outer"
// CHECK-NOT: RegionEnd

#include <errno.h>
#include <fcntl.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int is_over;

static void fill(void) {
  for (int i = 0; i < 50000; i++)
    mprof_trace_log(0, "key", "some text that fills the buffers");
}

static void *fill_on(void *arg) {
  while (!atomic_load(&is_over))
    mprof_trace_log(0, "key", "some text that fills the buffers");
  return arg;
}

static void close_all(int first, int limit) {
  for (int fd = first; fd < limit; fd++)
    close(fd);
}

static void open_own(int n) {
  for (int i = 0; i < n; i++)
    if (open("own", O_RDWR | O_CREAT | O_APPEND, 0600) < 0)
      exit(1);
}

static int is_own_empty(void) {
  struct stat st;
  return stat("own", &st) == 0 && st.st_size == 0;
}

int main(int argc, char **argv) {
  const char *what = argc == 2 ? argv[1] : "";
  char path[64];
  strcpy(path, what);
  if (mprof_trace_start(strcat(path, ".trace")) != 0)
    return 1;
  if (strcmp(what, "regions") == 0) {
    mprof_trace_region_end(0, "never begun");
    mprof_trace_region_begin(0, "outer");
    mprof_trace_region_begin(0, "inner");
    mprof_trace_region_end(0, "outer");
    mprof_trace_region_end(0, "inner");
  } else if (strcmp(what, "closes") == 0) {
    fill(); // opens the file of the trace
    close_all(3, 1024);
    open_own(10);
    for (int fd = 512; fd < 522; fd++)
      if (dup2(3, fd) < 0)
        return 1;
    fill();
    if (mprof_trace_stop() != EBADF || !is_own_empty())
      return 1;
    for (int fd = 512; fd < 522; fd++) // MProf has closed none of them
      if (fcntl(fd, F_GETFD) < 0)
        return 1;
    return 0;
  } else if (strcmp(what, "threads") == 0) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
      if (pthread_create(&t[i], NULL, fill_on, NULL) != 0)
        return 1;
    fill(); // opens the file of the trace
    for (int round = 0; round < 10; round++) {
      close_all(3, 100);
      open_own(20);
      usleep(2000);
    }
    atomic_store(&is_over, 1);
    for (int i = 0; i < 2; i++)
      pthread_join(t[i], NULL);
    if (!is_own_empty())
      return 1;
  } else {
    fill();
    if (chdir("elsewhere") != 0)
      return 1;
    fill();
  }
  return mprof_trace_stop();
}
