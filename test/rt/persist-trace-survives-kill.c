// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with the option persist, mprof recover writes the trace of a process
// that was killed at a random moment. Readers accept it, in each format, as a
// flight recorder whose oldest buffers were dropped, and as a trace whose first
// part is in a file already. Threads wake each other, wait in calls, are
// created and end, while the process is killed. CHILDREN sets the number of
// processes for each case.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -pthread -I%src/include %s -o app
// RUN: for f in 1.5 1.23; do \
// RUN:   for o in trace_last=10s trace_last_mb=1 trace_last=5ms trace_max_mb=1:trace=1; do \
// RUN:     env CHILDREN=${CHILDREN:-2} \
// RUN:       MPROF_OPTIONS=$o:trace_format=$f:persist=$f.${o##*=}.%%p:report=0:profile=0 \
// RUN:       ./app || exit 1; done; done
// RUN: rm -f mprof.* && ls > files && sed -i '/app\|files/d' files
// RUN: test $(wc -l < files) -eq $((8 * ${CHILDREN:-2}))
// RUN: for p in $(cat files); do %mprof recover $p > out 2> err || exit 1; \
// RUN:   test ! -s err && grep "$p.trace: [0-9]* events" out || exit 1; done
// RUN: %trace_check -q 1.23.*.trace
// RUN: %if go-1.23 %{ for p in 1.23.*.trace; do \
// RUN:   %go tool trace -d=parsed $p > p || exit 1; done %}
// RUN: for p in 1.5.*.trace; do %go119 tool trace -d app $p > p || exit 1; done

#include <mprof/mprof.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;
static atomic_int *rounds; // shared with the parent

static void *once(void *arg) {
  mprof_trace_log(0, "once", "runs");
  return arg;
}

// Takes a turn after another thread has taken its turn, so each turn is a wait
// and a wake-up.
static void take_turn(int me) {
  pthread_mutex_lock(&lock);
  while (turn != me)
    pthread_cond_wait(&cond, &lock);
  turn = (me + 1) % WORKERS;
  pthread_cond_broadcast(&cond);
  pthread_mutex_unlock(&lock);
}

static void *work(void *arg) {
  const int me = (int)(long)arg;
  mprof_label_set("worker", me ? "other" : "first");
  for (int i = 0;; i++) {
    const uint64_t task = mprof_trace_task_begin(0, "turn");
    mprof_trace_region_begin(task, "take");
    take_turn(me);
    mprof_trace_region_end(task, "take");
    free(malloc(100000));
    poll(NULL, 0, i % 8 == 0);
    mprof_trace_task_end(task);
    pthread_t t;
    if (i % 16 == 0 && pthread_create(&t, NULL, once, NULL) == 0)
      pthread_join(t, NULL);
    atomic_fetch_add(rounds, 1);
  }
  return NULL;
}

static int child(void) {
  pthread_t threads[WORKERS];
  for (long i = 0; i < WORKERS; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  pthread_join(threads[0], NULL);
  return 1;
}

int main(void) {
  const int children = atoi(getenv("CHILDREN"));
  srand((unsigned)time(NULL));
  rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < children; i++) {
    *rounds = 0;
    // A child that has done no round may not have its file yet.
    const int least = 1 + rand() % (i % 2 ? 40 : 4000);
    const pid_t pid = fork();
    if (pid == 0)
      return child();
    while (atomic_load(rounds) < least)
      usleep(100);
    kill(pid, SIGKILL);
    if (waitpid(pid, NULL, 0) != pid)
      return 1;
  }
  return 0;
}
