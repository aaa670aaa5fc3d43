// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread no longer counts as waiting after cancellation, or a jump
// out of a signal handler, has ended its wait. In a forked child, no thread of
// the parent counts as waiting. Later unlocks are not charged with such waits.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t

#include "waited.h"

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;

static void unlock(void *m) { pthread_mutex_unlock(m); }
static void wait_for_condition(void *arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, &mutex);
  for (;;)
    pthread_cond_wait(&cond, &mutex);
  pthread_cleanup_pop(1);
}
static void wait_for_semaphore(void *arg) {
  (void)arg;
  sem_wait(&sem);
}

static void cancelled(void (*wait)(void *), const void *object) {
  struct thread t;
  start(&t, wait, NULL);
  until_waited_for(object);
  until_waiting(&t, object, 64);
  pthread_cancel(t.id);
  finish(&t);
  NEED(!is_waited_for(object));
}

static sigjmp_buf back;
static void jump(int number) {
  (void)number;
  siglongjmp(back, 1);
}
static void leave_by_jump(void *arg) {
  (void)arg;
  if (sigsetjmp(back, 1) == 0)
    sem_wait(&sem);
}
static void jumped(void) {
  struct thread t;
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = jump;
  NEED(sigaction(SIGUSR1, &action, NULL) == 0);
  start(&t, leave_by_jump, NULL);
  until_waited_for(&sem);
  until_waiting(&t, &sem, sizeof(sem));
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  finish(&t);
  NEED(!is_waited_for(&sem));
}

// The child has the held lock and none of the parent's waiters.
static void take_held(void *arg) {
  (void)arg;
  pthread_mutex_lock(&held);
  pthread_mutex_unlock(&held);
}
OWN_CODE(child) static void release_in_child(void) {
  pthread_mutex_unlock(&held);
}
DECLARE_CODE(child);
static void forked(void) {
  struct thread t;
  pthread_mutex_lock(&held);
  start(&t, take_held, NULL);
  until_waited_for(&held);
  pid_t pid = fork();
  if (pid == 0) {
    NEED(!is_waited_for(&held));
    release_in_child();
    const struct code c = CODE(child);
    struct waited w = waited_in(mprof_mutex_profile, &c, SECOND);
    _exit(w.records == 0 ? 0 : 3);
  }
  int status;
  NEED(waitpid(pid, &status, 0) == pid);
  NEED(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  NEED(is_waited_for(&held));
  pthread_mutex_unlock(&held);
  finish(&t);
  NEED(!is_waited_for(&held));
}

OWN_CODE(later) static void unlock_later(void) {
  pthread_mutex_lock(&mutex);
  usleep(2000);
  pthread_mutex_unlock(&mutex);
}
DECLARE_CODE(later);

int main(void) {
  NEED(sem_init(&sem, 0, 0) == 0);
  cancelled(wait_for_condition, &cond);
  cancelled(wait_for_semaphore, &sem);
  jumped();
  forked();
  unlock_later();
  const struct code c = CODE(later);
  NEED(waited_in(mprof_mutex_profile, &c, SECOND).records == 0);
  return 0;
}
