// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with the option persist, a process that is killed at a random moment
// leaves a file from which mprof recover makes a profile of all its blocks.
// Each thread may have one event that was begun and is not in the profile. Four
// threads allocate, and free the blocks of each other, while another thread
// ends cycles and takes profiles. CHILDREN sets the number of processes.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -pthread -I%src/include %s -o app
// RUN: env CHILDREN=${CHILDREN:-12} \
// RUN:   MPROF_OPTIONS=heap_rate=1:persist=p.%%p:report=0:profile=0 ./app
// RUN: test $(ls truth.* | wc -l) -eq ${CHILDREN:-12}
// RUN: test $(ls p.* | wc -l) -eq ${CHILDREN:-12}
// RUN: for t in truth.*; do %mprof recover p.${t#truth.} > out || exit 1; \
// RUN:   %python %src/test/Inputs/compare_heapx.py p.${t#truth.}.heap.pb.gz $t \
// RUN:     || exit 1; done

#include <mprof/mprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, SIZES = 6, SLOTS = 64 };

// The events of one thread with the blocks of one size. An event has begun
// before the call, and has ended when the call has returned.
struct event {
  _Atomic long begun, ended;
};
static struct truth {
  struct event allocs[THREADS][THREADS * SIZES],
      frees[THREADS][THREADS * SIZES];
  atomic_bool is_ready;
} *truth; // shared with the parent

struct block {
  int size;
};
static struct block *_Atomic slots[SLOTS];

static size_t bytes_of(int size) { return 64 + 48 * (size_t)size; }

static void *work(void *arg) {
  const long me = (long)arg;
  unsigned random = 1 + (unsigned)me;
  for (unsigned i = 0;; i++) {
    random = random * 1664525 + 1013904223;
    const int size = (int)me * SIZES + (int)(random >> 16) % SIZES;
    struct event *e = &truth->allocs[me][size];
    e->begun++;
    struct block *b = malloc(bytes_of(size));
    e->ended++;
    b->size = size;
    b = atomic_exchange(&slots[(random >> 8) % SLOTS], b);
    if (b != NULL) {
      e = &truth->frees[me][b->size];
      e->begun++;
      free(b);
      e->ended++;
    }
    if (i == 100)
      truth->is_ready = 1;
  }
  return NULL;
}

static int child(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  for (;;) {
    mprof_next_cycle();
    mprof_cycle_flush();
    mprof_write_profile("heap", "/dev/null", 1);
  }
}

static void sum(struct event (*of)[THREADS * SIZES], int size, long *low,
                long *high) {
  *low = *high = 0;
  for (int t = 0; t < THREADS; t++) {
    *low += of[t][size].ended;
    *high += of[t][size].begun;
  }
}

static int say(pid_t pid) {
  char name[40];
  snprintf(name, sizeof(name), "truth.%d", (int)pid);
  FILE *f = fopen(name, "w");
  for (int i = 0; f && i < THREADS * SIZES; i++) {
    long a, allocs, b, frees;
    sum(truth->allocs, i, &a, &allocs);
    sum(truth->frees, i, &b, &frees);
    fprintf(f, "%zu alloc_objects=%ld..%ld inuse_objects=%ld..%ld\n",
            bytes_of(i), a, allocs, a - frees, allocs - b);
  }
  return !f || fclose(f) != 0;
}

int main(void) {
  const int children = atoi(getenv("CHILDREN"));
  srand((unsigned)time(NULL));
  for (int i = 0; i < children; i++) {
    truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t pid = fork();
    if (pid == 0)
      return child();
    while (!truth->is_ready)
      usleep(100);
    usleep((unsigned)rand() % 5000);
    kill(pid, SIGKILL);
    if (waitpid(pid, NULL, 0) != pid || say(pid) != 0)
      return 1;
    munmap(truth, sizeof(*truth));
  }
  return 0;
}
