// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that leaves out ends of regions, or ends what it never
// began, has a trace that readers take; one that closes all descriptors, and
// opens a file that gets the trace's, finds nothing in it but its own; one that
// goes to another directory has the trace where it said.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/elsewhere && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o careless
// RUN: env MPROF_OPTIONS=profile=0:report=0:trace_max_mb=1 ./careless regions
// RUN: %trace_check -q regions.trace
// RUN: %go tool trace -d=parsed regions.trace | FileCheck %s
// RUN: env MPROF_OPTIONS=profile=0:report=0:trace_max_mb=1 ./careless closes
// RUN: not ls closes.trace* 2> /dev/null
// RUN: env MPROF_OPTIONS=profile=0:report=0:trace_max_mb=1 ./careless goes
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
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fill(void) {
  for (int i = 0; i < 50000; i++)
    mprof_trace_log(0, "key", "some text that fills the buffers");
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
    struct stat st;
    fill(); // so that the file is open
    for (int fd = 3; fd < 100; fd++)
      close(fd);
    for (int i = 0; i < 10; i++) {
      int fd = open("own", O_RDWR | O_CREAT | O_APPEND, 0600);
      if (fd < 0)
        return 1;
    }
    fill();
    if (mprof_trace_stop() != EBADF || stat("own", &st) != 0 || st.st_size != 0)
      return 1;
    for (int fd = 3; fd < 13; fd++) // nobody has closed them
      if (fcntl(fd, F_GETFD) < 0)
        return 1;
    return 0;
  } else {
    fill();
    if (chdir("elsewhere") != 0)
      return 1;
    fill();
  }
  return mprof_trace_stop();
}
