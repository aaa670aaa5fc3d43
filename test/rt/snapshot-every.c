// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with snapshot_every, a process that continues writes its profiles
// again and again, with the time in their names, and dump_keep removes the
// oldest. With snapshot_at_rss, it writes them when its memory has grown to a
// size, and once more only if the memory was smaller in between. A forked child
// does the same. The thread that does this is in no profile.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run{snapshot_every=1s:dump_keep=1:threads=1:log_path=e} timeout 600 \
// RUN:   ./app every 2> err
// RUN: ls e.*T*.heap.pb.gz | count 1
// RUN: %python %src/test/Inputs/mprof_read.py e.*T*.threads.pb.gz \
// RUN:   | grep -c '^sample: 1 ' | grep -x 1
// RUN: %run{snapshot_at_rss=90m+150m:log_path=r:report=0} ./app grow 2> err
// RUN: ls r.*T*.heap.pb.gz | count 2
// RUN: %run{snapshot_at_rss=90m:log_path=f.%%p:report=0} ./app fork 2> err
// RUN: ls f.*T*.heap.pb.gz | count 1
//
// RUN: %run{snapshot_every=soon:snapshot_at_rss=5x:log_path=b} ./app 2> err
// RUN: grep 'snapshot_every=soon is not a time such as 60s, 5m or 1h' err
// RUN: grep 'snapshot_at_rss=5x is not a list of sizes such as 80%%+500m' err
// RUN: ls | not grep 'b.*T'

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

// Waits until `count` files match the pattern, or a minute has passed.
static void wait_for(const char *pattern, size_t count) {
  for (int i = 0; i < 6000; i++) {
    glob_t g;
    const int error = glob(pattern, 0, NULL, &g);
    const size_t found = error == 0 ? g.gl_pathc : 0;
    if (error == 0)
      globfree(&g);
    if (found >= count)
      return;
    usleep(10000);
  }
  _exit(1);
}

static void *use(size_t megabytes) {
  char *p = malloc(megabytes << 20);
  memset(p, 1, megabytes << 20);
  return p;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  kept = malloc(600000);
  if (strcmp(what, "every") == 0) {
    wait_for("e.*T*.heap.pb.gz", 1);
    glob_t g;
    glob("e.*T*.heap.pb.gz", 0, NULL, &g);
    for (int i = 0; access(g.gl_pathv[0], F_OK) == 0; i++) {
      if (i == 6000) // a newer one should replace it
        return 1;
      usleep(10000);
    }
    wait_for("e.*T*.threads.pb.gz", 1);
  } else if (strcmp(what, "grow") == 0) {
    kept = use(100);
    wait_for("r.*T*.heap.pb.gz", 1);
    usleep(1100000); // names have the second
    void *volatile more = use(70);
    wait_for("r.*T*.heap.pb.gz", 2);
    free(more);
  } else if (strcmp(what, "fork") == 0) {
    if (fork() == 0) {
      kept = use(100);
      wait_for("f.*T*.heap.pb.gz", 1);
      return 0;
    }
    int status;
    if (wait(&status) < 0 || status != 0)
      return 1;
  }
  return 0;
}
