// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread may leave a wait by siglongjmp or pthread_exit in a signal
// handler, or by cancellation at any instant. Afterwards the thread, and the
// object that it waited for, are in the same state as without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fexceptions -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O1 -fexceptions -pthread -I%src/test/Inputs %s \
// RUN:   -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// CHECK: -- siglongjmp
// CHECK: sem_wait: out of it, cancelled later
// CHECK: -- pthread_exit
// CHECK: sem_wait: handler of pthread_cleanup_push
// CHECK-NEXT: sem_wait: exited
// CHECK: -- asynchronous cancellation
// CHECK: pthread_mutex_lock: handler of pthread_cleanup_push
// CHECK-NEXT: pthread_mutex_lock: cancelled
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int empty_pipe[2], epoll, file, locked_file;
static pid_t child;
static char byte;

static void in_sem_wait(void) { sem_wait(&semaphore); }
static void in_sem_timedwait(void) {
  struct timespec late = after(60000);
  sem_timedwait(&semaphore, &late);
}
static void in_mutex_lock(void) { pthread_mutex_lock(&mutex); }
static void in_mutex_timedlock(void) {
  struct timespec late = after(60000);
  pthread_mutex_timedlock(&mutex, &late);
}
static void in_rdlock(void) { pthread_rwlock_rdlock(&rwlock); }
static void in_wrlock(void) { pthread_rwlock_wrlock(&rwlock); }
static void in_cond_wait(void) {
  pthread_mutex_lock(&cond_mutex);
  pthread_cond_wait(&cond, &cond_mutex);
}
static void in_read(void) {
  if (read(empty_pipe[0], &byte, 1) == 1)
    abort();
}
static void in_poll(void) {
  struct pollfd f = {empty_pipe[0], POLLIN, 0};
  poll(&f, 1, 60000);
}
static void in_epoll(void) {
  struct epoll_event e;
  epoll_wait(epoll, &e, 1, 60000);
}
static void in_usleep(void) { usleep(60000000); }
static void in_waitpid(void) { waitpid(child, NULL, 0); }
static void in_flock(void) { flock(file, LOCK_EX); }
static void in_setlkw(void) {
  struct flock l;
  memset(&l, 0, sizeof(l));
  l.l_type = F_WRLCK;
  fcntl(file, F_OFD_SETLKW, &l);
}
static void in_syscall(void) {
  static int word;
  syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, NULL);
}

// The thread that left the wait does not have the lock. When the holder
// releases the lock, another thread can get it.

static void hold_mutex(void) { NEED(pthread_mutex_lock(&mutex) == 0); }
static void release_mutex(void) {
  SHOW(pthread_mutex_unlock(&mutex));
  SHOW(pthread_mutex_trylock(&mutex));
  SHOW(pthread_mutex_unlock(&mutex));
}
static void hold_rwlock(void) { NEED(pthread_rwlock_wrlock(&rwlock) == 0); }
static void hold_flock(void) { NEED(flock(locked_file, LOCK_EX) == 0); }
static void release_flock(void) {
  SHOW_NUMBER(flock(locked_file, LOCK_UN));
  SHOW_NUMBER(flock(locked_file, LOCK_EX | LOCK_NB));
  SHOW_NUMBER(flock(locked_file, LOCK_UN));
}
static void hold_range(void) {
  struct flock l;
  memset(&l, 0, sizeof(l));
  l.l_type = F_WRLCK;
  NEED(fcntl(locked_file, F_OFD_SETLK, &l) == 0);
}
static void release_range(void) {
  struct flock l;
  memset(&l, 0, sizeof(l));
  l.l_type = F_UNLCK;
  SHOW_NUMBER(fcntl(locked_file, F_OFD_SETLK, &l));
  l.l_type = F_WRLCK;
  SHOW_NUMBER(fcntl(locked_file, F_OFD_SETLK, &l));
  l.l_type = F_UNLCK;
  SHOW_NUMBER(fcntl(locked_file, F_OFD_SETLK, &l));
}
static void release_sem(void) {
  SHOW_NUMBER(sem_post(&semaphore));
  SHOW_NUMBER(sem_trywait(&semaphore));
}
// Replaces the rwlock: glibc's rwlock counts its waiters, so it may not work
// after a waiter has left.
static void renew_rwlock(void) {
  pthread_rwlock_t fresh = PTHREAD_RWLOCK_INITIALIZER;
  memcpy(&rwlock, &fresh, sizeof(rwlock));
}
// Cancellation and pthread_exit lock the mutex again before the thread ends.
static void release_cond(void) {
  SHOW(pthread_mutex_trylock(&cond_mutex));
  pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  memcpy(&cond_mutex, &fresh, sizeof(cond_mutex));
  pthread_cond_t fresh_cond = PTHREAD_COND_INITIALIZER;
  memcpy(&cond, &fresh_cond, sizeof(cond));
}
static void nothing(void) {}

static const struct point {
  const char *name;
  void (*call)(void);
  long number; // the system call that it waits in
  void (*hold)(void), (*release)(void);
} points[] = {
    {"sem_wait", in_sem_wait, SYS_futex, nothing, release_sem},
    {"sem_timedwait", in_sem_timedwait, SYS_futex, nothing, release_sem},
    {"pthread_mutex_lock", in_mutex_lock, SYS_futex, hold_mutex, release_mutex},
    {"pthread_mutex_timedlock", in_mutex_timedlock, SYS_futex, hold_mutex,
     release_mutex},
    {"pthread_rwlock_rdlock", in_rdlock, SYS_futex, hold_rwlock, renew_rwlock},
    {"pthread_rwlock_wrlock", in_wrlock, SYS_futex, hold_rwlock, renew_rwlock},
    {"pthread_cond_wait", in_cond_wait, SYS_futex, nothing, release_cond},
    {"read", in_read, SYS_read, nothing, nothing},
    {"poll", in_poll, SYS_poll, nothing, nothing},
    {"epoll_wait", in_epoll, SYS_epoll_wait, nothing, nothing},
    {"usleep", in_usleep, SYS_clock_nanosleep, nothing, nothing},
    {"waitpid", in_waitpid, SYS_wait4, nothing, nothing},
    {"flock", in_flock, SYS_flock, hold_flock, release_flock},
    {"fcntl", in_setlkw, SYS_fcntl, hold_range, release_range},
    {"syscall", in_syscall, SYS_futex, nothing, nothing},
};
enum { POINTS = sizeof(points) / sizeof(points[0]) };

static pid_t tid;
static _Thread_local sigjmp_buf out;
static int asynchronous;

static void jump(int sig) { siglongjmp(out, sig); }
static void leave(int sig) {
  (void)sig;
  pthread_exit((void *)77);
}

static void cleanup(void *arg) {
  const struct point *p = arg;
  say("%s: handler of pthread_cleanup_push", p->name);
}

// Overwrites the frames that siglongjmp has left.
__attribute__((noinline)) static int scribble(int depth) {
  volatile char frame[512];
  memset((void *)frame, 0x5a, sizeof(frame));
  return depth == 0 ? frame[7] : scribble(depth - 1) + frame[depth];
}

static void *jump_out(void *arg) {
  const struct point *p = arg;
  pthread_cleanup_push(cleanup, arg);
  if (sigsetjmp(out, 1) == 0) {
    about_to_wait(&tid);
    p->call();
    say("%s: came back", p->name);
  }
  NEED(scribble(20) != 0);
  // The thread can wait as before, and is then cancelled in a wait.
  struct timespec soon = after(2);
  NEED(sem_timedwait(&semaphore, &soon) == -1 && errno == ETIMEDOUT);
  usleep(100);
  NEED(scribble(20) != 0);
  pthread_cancel(pthread_self());
  sem_timedwait(&semaphore, &soon);
  pthread_cleanup_pop(0);
  return NULL;
}

static void *wait_in(void *arg) {
  const struct point *p = arg;
  int old;
  pthread_cleanup_push(cleanup, arg);
  if (asynchronous)
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
  about_to_wait(&tid);
  p->call();
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
  say("%s: came back", p->name);
  pthread_cleanup_pop(0);
  return NULL;
}

static void *end_of(const struct point *p, void *(*run)(void *), int sig) {
  p->hold();
  __atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
  pthread_t t;
  NEED(pthread_create(&t, NULL, run, (void *)p) == 0);
  until_waits_in(&tid, p->number);
  if (sig)
    NEED(pthread_kill(t, sig) == 0);
  else
    NEED(pthread_cancel(t) == 0);
  void *value;
  NEED(pthread_join(t, &value) == 0);
  return value;
}

int main(void) {
  NEED(sem_init(&semaphore, 0, 0) == 0 && pipe(empty_pipe) == 0);
  NEED((epoll = epoll_create1(0)) >= 0);
  file = open("file", O_RDWR | O_CREAT, 0600);
  locked_file = open("file", O_RDWR);
  NEED(file >= 0 && locked_file >= 0);
  NEED(signal(SIGUSR1, jump) != SIG_ERR && signal(SIGUSR2, leave) != SIG_ERR);
  NEED((child = fork()) >= 0);
  if (child == 0)
    for (;;)
      pause();
  say("-- siglongjmp");
  for (int i = 0; i < POINTS; i++) {
    void *value = end_of(&points[i], jump_out, SIGUSR1);
    say("%s: out of it, %s", points[i].name,
        value == PTHREAD_CANCELED ? "cancelled later" : "not cancelled");
    points[i].release();
  }
  say("-- pthread_exit");
  for (int i = 0; i < POINTS; i++) {
    void *value = end_of(&points[i], wait_in, SIGUSR2);
    say("%s: %s", points[i].name, value == (void *)77 ? "exited" : "returned");
    points[i].release();
  }
  say("-- asynchronous cancellation");
  asynchronous = 1;
  for (int i = 0; i < POINTS; i++) {
    void *value = end_of(&points[i], wait_in, 0);
    say("%s: %s", points[i].name,
        value == PTHREAD_CANCELED ? "cancelled" : "returned");
    points[i].release();
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  say("end");
  return 0;
}
