// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread is not stuck at a condition if the stack of another thread
// has the condition's address. This stack may be next to another stack without
// a guard page, or next to other memory of the program. The other thread may
// also run a signal handler on an alternate stack, which lies within its own
// stack. Or the thread may run on a stack that the program has allocated. The
// address may also be in memory that was the stack of an ended thread.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { GUARD = 4096, DATA = 65536, STACK = 262144 };

static pthread_mutex_t idles = PTHREAD_MUTEX_INITIALIZER;
static volatile int known, must_end;

static void *idle(void *arg) {
  pthread_mutex_lock(&idles);
  pthread_mutex_unlock(&idles);
  return arg;
}

static void *know_gate(void *arg) {
  struct gate *volatile g = make_gate();
  forget_calls();
  known++;
  while (!must_end)
    usleep(1000);
  open_gate(g);
  return arg;
}

// --- two stacks without a guard between them ---

static void begin_beside(pthread_t *t) {
  pthread_attr_t a;
  pthread_attr_init(&a);
  pthread_attr_setguardsize(&a, 0);
  NEED(pthread_create(&t[0], &a, idle, NULL) == 0);
  NEED(pthread_create(&t[1], NULL, know_gate, NULL) == 0);
}

// --- memory of the program below a stack that it allocated ---

static void *put_gate_and_stay(void *arg) {
  put_gate(arg);
  known++;
  while (!must_end)
    usleep(1000);
  open_gate(*(struct gate **)arg);
  return NULL;
}

static void begin_above(pthread_t *t) {
  pthread_attr_t a;
  char *p = mmap(NULL, GUARD + DATA + STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(p != MAP_FAILED && mprotect(p, GUARD, PROT_NONE) == 0);
  pthread_attr_init(&a);
  NEED(pthread_attr_setstack(&a, p + GUARD + DATA, STACK) == 0);
  NEED(pthread_create(t, &a, put_gate_and_stay, p + GUARD) == 0);
}

// --- memory of the program that was a stack before ---

static void *end(void *arg) { return arg; }

static struct gate **put_on_old_stack(void) {
  pthread_t t;
  pthread_attr_t a;
  char *p = mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(p != MAP_FAILED && mprotect(p, GUARD, PROT_NONE) == 0);
  pthread_attr_init(&a);
  NEED(pthread_attr_setstack(&a, p + GUARD, STACK) == 0);
  NEED(pthread_create(&t, &a, end, NULL) == 0 && pthread_join(t, NULL) == 0);
  apart(put_gate, p + GUARD);
  return (struct gate **)(p + GUARD);
}

// --- an alternate stack within the thread's own stack ---

static void until_end(int signal) {
  (void)signal;
  known++;
  while (!must_end) {
  }
}

__attribute__((noinline)) static void know_gate_and_raise(void) {
  struct gate *volatile g = make_gate();
  forget_calls();
  raise(SIGUSR1);
  open_gate(g);
}

static void *on_alternate(void *arg) {
  char alternate[65536];
  stack_t s = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
  NEED(sigaltstack(&s, NULL) == 0);
  know_gate_and_raise();
  return arg;
}

static void begin_on_alternate(pthread_t *t) {
  struct sigaction a = {.sa_handler = until_end, .sa_flags = SA_ONSTACK};
  NEED(sigaction(SIGUSR1, &a, NULL) == 0);
  NEED(pthread_create(t, NULL, on_alternate, NULL) == 0);
}

// --- a stack that the program allocated ---

static void run_until_end(void) { until_end(0); }

static void *on_another(void *arg) {
  struct gate *volatile g = make_gate();
  static ucontext_t own, other;
  forget_calls();
  NEED(getcontext(&other) == 0);
  other.uc_stack = (stack_t){.ss_sp = malloc(STACK), .ss_size = STACK};
  other.uc_link = &own;
  makecontext(&other, run_until_end, 0);
  swapcontext(&own, &other);
  open_gate(g);
  return arg;
}

enum { THREADS = 5, KNOWING = 4 };

int main(void) {
  pthread_t t[THREADS];
  pthread_mutex_lock(&idles);
  apart(make_gate_and_forget, NULL);
  begin_beside(t); // first, as libc has no old stack left to use
  begin_above(&t[2]);
  begin_on_alternate(&t[3]);
  NEED(pthread_create(&t[4], NULL, on_another, NULL) == 0);
  struct gate **slot = put_on_old_stack();
  while (known < KNOWING)
    usleep(1000);
  NEED(count_stuck() == 1);
  must_end = 1;
  open_gate(*slot);
  pthread_mutex_unlock(&idles);
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  _exit(0);
}
