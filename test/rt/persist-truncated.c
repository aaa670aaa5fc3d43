// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process whose file of the option persist is truncated by another
// program goes on, and says that the file has no more. Its profile lacks only
// the events that it counts as lost. A program that reads the file changes
// nothing. The same holds for the file of a forked child.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -pthread -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:trace=1:persist=p:log_path=out} ./app read > out.txt 2> err.txt
// RUN: not grep persist err.txt
// RUN: grep -q 'went on\|no leases' out.txt
// RUN: %run{heap_rate=1:trace=1:persist=q:log_path=cut} ./app cut > cut.txt 2> cut.err
// RUN: grep -q 'no leases' cut.txt || grep 'persist: another program writes to .*/q;' cut.err
// RUN: test ! -e q
// RUN: grep -q 'no leases' cut.txt || awk -v truth=$(awk '/^rounds/ {print $2}' cut.txt) \
// RUN:   '/wrote cut/ { gsub(",", ""); match($0, /\([0-9]+ samples/); n = substr($0, RSTART + 1) + 0; \
// RUN:      lost = match($0, /incomplete: reentrant [0-9]+/) ? substr($0, RSTART + 22) + 0 : 0; \
// RUN:      good = n <= truth + 1000 && n + lost >= truth } END { exit !good }' cut.err
// RUN: grep -q 'went on\|no leases' cut.txt
// RUN: env MPROF_OPTIONS=heap_rate=1:persist=r.%%p:log_path=fork ./app fork > fork.txt 2> fork.err
// RUN: grep -q 'no leases' fork.txt || grep -c 'another program writes to' fork.err | grep -x 1
// RUN: grep -q 'went on\|no leases' fork.txt

#define _GNU_SOURCE

#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, BLOCKS = 64 };

static atomic_bool is_over;
static _Atomic unsigned long rounds;

static void *allocate(void *arg) {
  void *blocks[BLOCKS] = {NULL};
  for (unsigned long n = 0; !atomic_load(&is_over); n++) {
    free(blocks[n % BLOCKS]);
    blocks[n % BLOCKS] = malloc(16 + n * 7 % 3000);
    atomic_fetch_add(&rounds, 1);
  }
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
  return arg;
}

// Returns whether the file system of the working directory has leases.
static bool has_leases(void) {
  const int fd = open("probe", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  NEED(fd >= 0);
  const bool has = fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
  close(fd);
  return has;
}

// Waits until the runtime protects the file of this process.
static void wait_for_lease(const char *path) {
  char line[256], inode[32];
  struct stat st;
  for (bool found = false; !found; usleep(1000)) {
    if (stat(path, &st) != 0)
      continue;
    snprintf(inode, sizeof(inode), ":%lu ", (unsigned long)st.st_ino);
    FILE *f = fopen("/proc/locks", "re");
    NEED(f != NULL);
    while (fgets(line, sizeof(line), f))
      found |= strstr(line, "LEASE") && strstr(line, inode);
    fclose(f);
  }
}

// Waits until the threads have made some more rounds.
static void go_on(void) {
  for (const unsigned long end = rounds + 1000; rounds < end;)
    usleep(1000);
}

static void meddle(const char *path, bool cuts) {
  wait_for_lease(path);
  go_on();
  const int fd =
      open(path, cuts ? O_WRONLY | O_TRUNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC);
  NEED(fd >= 0);
  close(fd);
  if (!cuts) // the runtime protects the file again
    wait_for_lease(path);
  go_on();
}

static void run(const char *path, bool cuts) {
  pthread_t t[THREADS];
  atomic_store(&is_over, false);
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_create(&t[i], NULL, allocate, NULL) == 0);
  meddle(path, cuts);
  atomic_store(&is_over, true);
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  printf("went on\nrounds %lu\n", rounds);
}

int main(int argc, char **argv) {
  NEED(argc == 2);
  if (!has_leases()) {
    puts("no leases");
    return 0;
  }
  if (strcmp(argv[1], "fork") != 0) {
    const bool cuts = strcmp(argv[1], "cut") == 0;
    run(cuts ? "q" : "p", cuts);
    return 0;
  }
  const pid_t child = fork();
  NEED(child >= 0);
  if (child == 0) {
    char path[32];
    snprintf(path, sizeof(path), "r.%d", (int)getpid());
    run(path, true);
    return 0;
  }
  int status = -1;
  NEED(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
