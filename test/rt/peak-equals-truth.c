// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with heap_rate=1, the peak profile shows exactly the blocks that were
// in use, allocated and freed at the moment when the most bytes were in use.
// Each of 20 forked children is a random program with four threads, which
// starts with an empty profile although its parent has allocated blocks.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -pthread %s -o app
// RUN: %run{heap_rate=1:peak=1:log_path=p:report=0} ./app
// RUN: ls truth.* | wc -l | grep -qx 20
// RUN: for t in truth.*; do \
// RUN:   %python %src/test/Inputs/compare_heapx.py p.${t#truth.}.peak.pb.gz $t \
// RUN:     || exit 1; done

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZES = 8, BLOCKS = 400, EVENTS = 3000, THREADS = 4, CHILDREN = 20 };

struct counts {
  long allocs[SIZES], frees[SIZES];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *volatile blocks[BLOCKS]; // guarded by lock
static unsigned size_of[BLOCKS];      // guarded by lock
static struct counts now, at_peak;    // guarded by lock
static long bytes, most;              // guarded by lock
static uint64_t state;                // guarded by lock

static unsigned below(unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

static size_t bytes_of(unsigned size) { return 100 + 371 * size * size; }

static void toggle(unsigned i) {
  if (blocks[i] != NULL) {
    free(blocks[i]);
    blocks[i] = NULL;
    now.frees[size_of[i]]++;
    bytes -= (long)bytes_of(size_of[i]);
    return;
  }
  size_of[i] = below(SIZES);
  blocks[i] = malloc(bytes_of(size_of[i]));
  now.allocs[size_of[i]]++;
  bytes += (long)bytes_of(size_of[i]);
  if (bytes > most) {
    most = bytes;
    at_peak = now;
  }
}

static void *work(void *unused) {
  // The number of blocks in use goes up and down several times.
  for (int i = 0; i < EVENTS; i++) {
    pthread_mutex_lock(&lock);
    toggle(below(i % 1000 < 600 ? BLOCKS : BLOCKS / 8));
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static int say(void) {
  char name[40];
  snprintf(name, sizeof(name), "truth.%d", (int)getpid());
  FILE *f = fopen(name, "w");
  for (unsigned i = 0; f && i < SIZES; i++)
    fprintf(f, "%zu alloc_objects=%ld inuse_objects=%ld inuse_space=%ld\n",
            bytes_of(i), at_peak.allocs[i],
            at_peak.allocs[i] - at_peak.frees[i],
            (at_peak.allocs[i] - at_peak.frees[i]) * (long)bytes_of(i));
  return !f || fclose(f) != 0;
}

static int child(int seed) {
  pthread_t threads[THREADS];
  state = (uint64_t)seed;
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  return say();
}

int main(void) {
  static void *volatile kept;
  kept = malloc(bytes_of(3) * 100000);
  for (int i = 0; i < CHILDREN; i++) {
    int status;
    pid_t pid = fork();
    if (pid == 0)
      return child(i);
    if (waitpid(pid, &status, 0) != pid || status != 0)
      return 1;
  }
  return 0;
}
