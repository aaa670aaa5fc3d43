// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler interrupts a join or a wait for a mutex and requests
// the list of stuck threads. The deadlock is found, whether the handler's
// thread is in the cycle or waits for the cycle. SA_RESTART and an alternate
// stack make no difference. mprof_stack then shows the handler's thread as
// running. If the handler interrupts a wait for a condition, its thread is not
// stuck, because the handler may end the wait.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: for how in 0 1 2; do \
// RUN:   %run_quiet{stuck=1} timeout 600 ./app $how || exit 1; done

#include "deadlock.h"

#include <signal.h>
#include <stdlib.h>

static size_t found[4]; // number found by each handler
static char text[65536];
static pid_t own;

static void use_own_stack(void) {
  static _Thread_local char alternate[65536];
  const stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
  NEED(sigaltstack(&other, NULL) == 0);
}
static void *a_with_own_stack(void *tid) {
  use_own_stack();
  return a_then_b(tid);
}
static void *b_with_own_stack(void *tid) {
  use_own_stack();
  return b_then_a(tid);
}
static void *join(void *tid) {
  use_own_stack();
  about_to_wait(tid);
  pthread_join(threads[0], NULL);
  return tid;
}
struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t opens;
};
static void *wait_at_gate(void *tid) {
  use_own_stack();
  struct gate *g = calloc(1, sizeof(*g));
  void *volatile next = malloc(100); // lies between g and malloc's top chunk
  (void)next;
  pthread_mutex_init(&g->mutex, NULL);
  pthread_cond_init(&g->opens, NULL);
  pthread_mutex_lock(&g->mutex);
  about_to_wait(tid);
  pthread_cond_wait(&g->opens, &g->mutex);
  return tid;
}

static void handle(int sig) {
  static struct mprof_stack_record records[8];
  (void)sig;
  size_t n = 0;
  if (mprof_thread_leak_profile(records, 8, &n) != 0)
    n = 1000;
  mprof_stack(text, sizeof(text), 0);
  own = own_tid();
  for (int i = 0; i < 4; i++)
    if (tids[i] == own)
      __atomic_store_n(&found[i], n, __ATOMIC_RELEASE);
}

static size_t ask(int i) {
  NEED(pthread_kill(threads[i], SIGUSR1) == 0);
  while (__atomic_load_n(&found[i], __ATOMIC_ACQUIRE) == 0)
    usleep(1000);
  return found[i];
}

int main(int argc, char **argv) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = handle;
  NEED(argc == 2);
  init_deadlock();
  action.sa_flags = argv[1][0] == '1'   ? SA_RESTART
                    : argv[1][0] == '2' ? SA_ONSTACK
                                        : 0;
  NEED(sigaction(SIGUSR1, &action, NULL) == 0);
  void *(*const run[])(void *) = {a_with_own_stack, b_with_own_stack, join,
                                  wait_at_gate};
  for (int i = 0; i < 4; i++)
    create_waiter(i, run[i]);
  for (int i = 0; i < 4; i++)
    until_sleeps(&tids[i]);
  // If another thread asks, the thread at the gate may count, too: a program
  // cannot control which words look like addresses by chance.
  NEED(ask(0) >= 3);
  char running[64];
  NEED(strstr(text, "[running]") != NULL);
  NEED(ask(2) >= 3);
  NEED(ask(3) == 3);
  snprintf(running, sizeof(running), "thread %d \"app\" [running]", (int)own);
  NEED(strstr(text, running) == text);
  return 0;
}
