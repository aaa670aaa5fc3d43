// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory profile at exit shows the moment at which the resident
// memory was highest, with the stacks of the blocks that were in use then. So
// does the one that is written when a signal ends the process.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app
// RUN: %run{heap_rate=1:memory=1:report=0:log_path=app} ./app
// RUN: %mprof memory app.*.memory.pb.gz | FileCheck %s
// RUN: not --crash %run{heap_rate=1:memory=1:dump_on_signal=terminate:report=0:log_path=b} \
// RUN:   ./app signal
// RUN: %mprof memory b.*.memory.pb.gz | FileCheck %s
//
// CHECK: 19.{{.*}} malloc: blocks in use
// CHECK-NEXT: 19.{{.*}} burst memory-at-its-highest.c:

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1000, BYTES = 20000 };
static char *blocks[N];

// Returns how often the thread that looks at the memory has slept.
static long looks(void) {
  DIR *d = opendir("/proc/self/task");
  long n = 0;
  for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
    char path[300], line[256], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
      sscanf(line, "Name: %31s", name);
      if (strcmp(name, "mprof-snapshots") == 0)
        sscanf(line, "voluntary_ctxt_switches: %ld", &n);
    }
    if (f)
      fclose(f);
  }
  if (d)
    closedir(d);
  return n;
}

__attribute__((noinline)) static void burst(void) {
  for (int i = 0; i < N; i++)
    blocks[i] = memset(malloc(BYTES), 1, BYTES);
}

int main(int argc, char **argv) {
  (void)argv;
  burst();
  const long before = looks();
  for (int i = 0; i < 6000 && looks() < before + 5; i++)
    usleep(10000);
  for (int i = 0; i < N; i++)
    free(blocks[i]);
  return argc > 1 ? raise(SIGTERM) : 0;
}
