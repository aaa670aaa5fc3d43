// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stacks of all threads can be taken by several threads at once and
// in a signal handler that interrupts any code. They can be taken while the
// process forks, in the child, and while the process exits. Threads with the
// smallest stacks, on stacks of makecontext, and with a broken frame chain do
// not cause a crash.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{threads=1} timeout 600 %t
// RUN: %run_quiet{threads_stop=1} timeout 600 %t

#include "waited.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { TAKERS = 3, TAKES = 20, WAITERS = 4, FORKS = 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int may_end, waiting, in_coroutine, taken, broken;
static pthread_attr_t smallest;

static void block(void) {
  pthread_mutex_lock(&mutex);
  __atomic_add_fetch(&waiting, 1, __ATOMIC_RELAXED);
  while (!may_end)
    pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
}

OWN_CODE(waiter) static void *waiter(void *arg) {
  block();
  __asm__ volatile("" ::: "memory");
  return arg;
}
DECLARE_CODE(waiter);

// --- on a stack of makecontext, waiting and running ---

static ucontext_t back[2], coroutines[2];
static char stacks[2][32768] __attribute__((aligned(16)));

OWN_CODE(coroutine) static void coroutine(int spins) {
  __atomic_add_fetch(&in_coroutine, 1, __ATOMIC_RELAXED);
  if (!spins)
    block();
  else
    while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
      ;
  __asm__ volatile("" ::: "memory");
}
DECLARE_CODE(coroutine);

static void *run_coroutine(void *arg) {
  const int i = (int)(intptr_t)arg;
  NEED(getcontext(&coroutines[i]) == 0);
  coroutines[i].uc_stack.ss_sp = stacks[i];
  coroutines[i].uc_stack.ss_size = sizeof(stacks[i]);
  coroutines[i].uc_link = &back[i];
  makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
  NEED(swapcontext(&back[i], &coroutines[i]) == 0);
  return NULL;
}

// --- with a frame whose return address is wrong ---

__attribute__((noinline)) static void spin(void) {
  __atomic_store_n(&broken, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
    ;
}

__attribute__((noinline)) static void *break_chain(void *arg) {
  uintptr_t *frame = __builtin_frame_address(0);
  const uintptr_t before = frame[0];
  frame[0] = (uintptr_t)arg;
  spin();
  frame[0] = before;
  return NULL;
}

// --- taking stacks ---

static struct mprof_stack_record records[TAKERS + 2][100];

static size_t count(const struct mprof_stack_record *r, size_t n,
                    const struct code *c) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    int is_there = 0;
    for (int k = 0; k < MPROF_RECORD_STACK && r[i].stack0[k] != 0; k++)
      is_there |= is_in(c, r[i].stack0[k]);
    found += (size_t)is_there;
  }
  return found;
}

static void take(int i) {
  const struct code in_waiter = CODE(waiter), in_code = CODE(coroutine);
  size_t n;
  NEED(mprof_thread_profile(records[i], 100, &n) == 0);
  const size_t waiters = count(records[i], n, &in_waiter),
               others = count(records[i], n, &in_code);
  // Under an emulator, threads may answer too late.
  NEED(is_emulated() || (waiters == WAITERS && others == 2));
  __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
}

static void *taker(void *arg) {
  for (int i = 0; i < TAKES; i++)
    take((int)(intptr_t)arg);
  return NULL;
}

// May have interrupted any code, including MProf itself.
static void on_alarm(int sig) {
  (void)sig;
  static struct mprof_stack_record r[100];
  static char text[4096];
  size_t n;
  const int before = errno;
  const int error = mprof_thread_profile(r, 100, &n);
  NEED(error == 0 || error == EBUSY);
  NEED(mprof_stack(text, sizeof(text), 1) > 0);
  NEED(errno == before);
}

static void set_timer(int us) {
  struct itimerval v = {{0, us}, {0, us}};
  NEED(setitimer(ITIMER_REAL, &v, NULL) == 0);
}

static void fork_once(void) {
  pid_t child = fork();
  NEED(child >= 0);
  if (child == 0) {
    struct mprof_stack_record r[2];
    size_t n;
    struct sigaction now;
    NEED(mprof_thread_profile(r, 2, &n) == 0 && n == 1);
    NEED(sigaction(60, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    _exit(0);
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    NEED(errno == EINTR);
  NEED(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *take_for_ever(void *arg) {
  struct mprof_stack_record r[100];
  size_t n;
  for (;;)
    mprof_thread_profile(r, 100, &n);
  return arg;
}

int main(void) {
  pthread_t waiters[WAITERS], others[4], takers[TAKERS];
  NEED(pthread_attr_init(&smallest) == 0);
  NEED(pthread_attr_setstacksize(&smallest, SMALLEST_STACK) == 0);
  for (int i = 0; i < WAITERS; i++)
    NEED(pthread_create(&waiters[i], &smallest, waiter, NULL) == 0);
  for (int i = 0; i < 2; i++)
    NEED(pthread_create(&others[i], NULL, run_coroutine, (void *)(intptr_t)i) ==
         0);
  NEED(pthread_create(&others[2], &smallest, break_chain,
                      (void *)(uintptr_t)0x7ffffff0) == 0);
  while (__atomic_load_n(&in_coroutine, __ATOMIC_RELAXED) != 2 ||
         __atomic_load_n(&waiting, __ATOMIC_RELAXED) != WAITERS + 1 ||
         !__atomic_load_n(&broken, __ATOMIC_RELAXED))
    usleep(1000);
  for (int i = 0; i < TAKERS; i++)
    NEED(pthread_create(&takers[i], &smallest, taker, (void *)(intptr_t)i) ==
         0);
  for (int i = 0; i < FORKS; i++)
    fork_once();
  for (int i = 0; i < TAKERS; i++)
    NEED(pthread_join(takers[i], NULL) == 0);
  NEED(taken == TAKERS * TAKES);
  signal(SIGALRM, on_alarm);
  set_timer(2000);
  for (int i = 0; i < TAKES; i++) {
    free(malloc(100));
    take(TAKERS);
  }
  set_timer(0);
  pthread_mutex_lock(&mutex);
  __atomic_store_n(&may_end, 1, __ATOMIC_RELAXED);
  pthread_cond_broadcast(&cond);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < WAITERS; i++)
    NEED(pthread_join(waiters[i], NULL) == 0);
  for (int i = 0; i < 3; i++)
    NEED(pthread_join(others[i], NULL) == 0);
  // The process exits while another thread takes the stacks.
  NEED(pthread_create(&takers[0], NULL, take_for_ever, NULL) == 0);
  usleep(2000);
  return 0;
}
