// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: With and without MProf, a thread can be cancelled in exactly the same
// calls. Its cleanup handlers run in the same order and find the mutex in the
// same state.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// Cleanup handlers run in a different way when exceptions are enabled.
// RUN: %mprof_clang -fmprof -O2 -fexceptions -pthread -I%src/test/Inputs %s \
// RUN:   -o app-exceptions
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app-exceptions > exceptions.txt
// RUN: diff plain.txt exceptions.txt
//
// CHECK: -- cancelled while it waits
// CHECK: pthread_cond_wait: inner handler, the mutex is held
// CHECK-NEXT: pthread_cond_wait: outer handler
// CHECK-NEXT: pthread_cond_wait: end of the thread
// CHECK-NEXT: pthread_cond_wait: cancelled
// CHECK: sem_wait: cancelled
// CHECK: read: cancelled
// CHECK: pthread_mutex_lock: went on
// CHECK: -- cancelled before
// CHECK: sem_wait: cancelled
// CHECK: pthread_mutex_lock: went on
// CHECK: -- cancellation disabled
// CHECK: sem_wait: went on
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

static pthread_mutex_t mutex, held_mutex;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_barrier_t barrier;
static sem_t empty, leave;
static int empty_pipe[2], full_pipe[2], sockets[2], listening, udp, epoll;
static int unlocked_file, locked_file; // one file, locked by the test
static int message_queue = -1, semaphores = -1;
static mqd_t posix_queue = (mqd_t)-1;
static pid_t child;
static pthread_t sleeper; // does not end while the test runs
static pthread_once_t once;
static char byte;

static const struct timespec minute = {60, 0};

static struct flock whole_file(int type) {
  struct flock l;
  memset(&l, 0, sizeof(l));
  l.l_type = type;
  l.l_whence = SEEK_SET;
  return l;
}

// A function for each call. The first functions wait for events that never
// happen.

static void in_cond_wait(void) { pthread_cond_wait(&cond, &mutex); }
static void in_cond_timedwait(void) {
  struct timespec late = after(60000);
  pthread_cond_timedwait(&cond, &mutex, &late);
}
static void in_cond_clockwait(void) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 60000);
  pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &late);
}
static void in_sem_wait(void) { sem_wait(&empty); }
static void in_sem_timedwait(void) {
  struct timespec late = after(60000);
  sem_timedwait(&empty, &late);
}
static void in_sem_clockwait(void) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 60000);
  sem_clockwait(&empty, CLOCK_MONOTONIC, &late);
}
static void in_join(void) { pthread_join(sleeper, NULL); }
static void in_timedjoin(void) {
  struct timespec late = after(60000);
  pthread_timedjoin_np(sleeper, NULL, &late);
}
static void in_clockjoin(void) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 60000);
  pthread_clockjoin_np(sleeper, NULL, CLOCK_MONOTONIC, &late);
}
static void in_read(void) {
  if (read(empty_pipe[0], &byte, 1) == 1)
    abort();
}
static void in_readv(void) {
  struct iovec v = {&byte, 1};
  if (readv(empty_pipe[0], &v, 1) == 1)
    abort();
}
static void in_write(void) {
  if (write(full_pipe[1], &byte, 1) == 1)
    abort();
}
static void in_writev(void) {
  struct iovec v = {&byte, 1};
  if (writev(full_pipe[1], &v, 1) == 1)
    abort();
}
static void in_recv(void) { recv(sockets[0], &byte, 1, 0); }
static void in_recvfrom(void) { recvfrom(udp, &byte, 1, 0, NULL, NULL); }
static void in_recvmsg(void) {
  struct iovec v = {&byte, 1};
  struct msghdr m;
  memset(&m, 0, sizeof(m));
  m.msg_iov = &v;
  m.msg_iovlen = 1;
  recvmsg(sockets[0], &m, 0);
}
static void in_recvmmsg(void) {
  struct iovec v = {&byte, 1};
  struct mmsghdr m;
  memset(&m, 0, sizeof(m));
  m.msg_hdr.msg_iov = &v;
  m.msg_hdr.msg_iovlen = 1;
  recvmmsg(udp, &m, 1, 0, NULL);
}
static void in_accept(void) { accept(listening, NULL, NULL); }
static void in_accept4(void) { accept4(listening, NULL, NULL, 0); }
static void in_poll(void) {
  struct pollfd p = {empty_pipe[0], POLLIN, 0};
  poll(&p, 1, 60000);
}
static void in_ppoll(void) {
  struct pollfd p = {empty_pipe[0], POLLIN, 0};
  ppoll(&p, 1, &minute, NULL);
}
static void in_select(void) {
  struct timeval t = {60, 0};
  select(0, NULL, NULL, NULL, &t);
}
static void in_pselect(void) { pselect(0, NULL, NULL, NULL, &minute, NULL); }
static void in_epoll_wait(void) {
  struct epoll_event e;
  epoll_wait(epoll, &e, 1, 60000);
}
static void in_epoll_pwait(void) {
  struct epoll_event e;
  epoll_pwait(epoll, &e, 1, 60000, NULL);
}
static void in_nanosleep(void) { nanosleep(&minute, NULL); }
static void in_clock_nanosleep(void) {
  clock_nanosleep(CLOCK_MONOTONIC, 0, &minute, NULL);
}
static void in_sleep(void) { sleep(60); }
static void in_usleep(void) { usleep(60000000); }
static void in_wait(void) { wait(NULL); }
static void in_waitpid(void) { waitpid(child, NULL, 0); }
static void in_waitid(void) {
  siginfo_t info;
  waitid(P_PID, (id_t)child, &info, WEXITED);
}
static void in_wait4(void) { wait4(child, NULL, 0, NULL); }
static void in_setlkw(void) {
  struct flock l = whole_file(F_WRLCK);
  fcntl(unlocked_file, F_OFD_SETLKW, &l);
}
static void in_msgrcv(void) {
  struct {
    long type;
    char text[1];
  } m;
  msgrcv(message_queue, &m, 1, 0, 0);
}
static void in_mq_receive(void) {
  char text[8];
  mq_receive(posix_queue, text, sizeof(text), NULL);
}
static void in_mq_timedreceive(void) {
  char text[8];
  struct timespec late = after(60000);
  mq_timedreceive(posix_queue, text, sizeof(text), NULL, &late);
}
static void in_once_routine(void) { sem_wait(&empty); }
static void in_once(void) { pthread_once(&once, in_once_routine); }

// These calls are no cancellation points. They wait until the test releases
// them.
static void in_mutex_lock(void) {
  pthread_mutex_lock(&held_mutex);
  pthread_mutex_unlock(&held_mutex);
}
static void in_mutex_timedlock(void) {
  struct timespec late = after(60000);
  pthread_mutex_timedlock(&held_mutex, &late);
  pthread_mutex_unlock(&held_mutex);
}
static void in_mutex_clocklock(void) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 60000);
  pthread_mutex_clocklock(&held_mutex, CLOCK_MONOTONIC, &late);
  pthread_mutex_unlock(&held_mutex);
}
static void in_rdlock(void) {
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}
static void in_wrlock(void) {
  pthread_rwlock_wrlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}
static void in_barrier(void) { pthread_barrier_wait(&barrier); }
static void in_flock(void) {
  flock(unlocked_file, LOCK_EX);
  flock(unlocked_file, LOCK_UN);
}
static void in_semop(void) {
  struct sembuf take = {0, -1, 0};
  semop(semaphores, &take, 1);
}

static void release_mutex(void) { pthread_mutex_unlock(&held_mutex); }
static void release_rwlock(void) { pthread_rwlock_unlock(&rwlock); }
static void release_barrier(void) { pthread_barrier_wait(&barrier); }
static void release_flock(void) { flock(locked_file, LOCK_UN); }
static void release_semop(void) {
  struct sembuf give = {0, 1, 0};
  semop(semaphores, &give, 1);
}
static void hold_mutex(void) { pthread_mutex_lock(&held_mutex); }
static void hold_rwlock(void) { pthread_rwlock_wrlock(&rwlock); }
static void hold_flock(void) { NEED(flock(locked_file, LOCK_EX) == 0); }
static void hold_lease(void) {
  struct flock l = whole_file(F_WRLCK);
  NEED(fcntl(locked_file, F_OFD_SETLK, &l) == 0);
}
static void end_lease(void) {
  struct flock l = whole_file(F_UNLCK);
  NEED(fcntl(locked_file, F_OFD_SETLK, &l) == 0);
}

struct point {
  const char *name;
  void (*call)(void);
  long number;           // of the system call in which the thread waits
  void (*hold)(void);    // called before the call
  void (*release)(void); // called later, so that a call without cancel returns
  int goes_on;           // the call is not a cancellation point
};

static const struct point waits[] = {
    {"pthread_cond_wait", in_cond_wait, SYS_futex, 0, 0, 0},
    {"pthread_cond_timedwait", in_cond_timedwait, SYS_futex, 0, 0, 0},
    {"pthread_cond_clockwait", in_cond_clockwait, SYS_futex, 0, 0, 0},
    {"sem_wait", in_sem_wait, SYS_futex, 0, 0, 0},
    {"sem_timedwait", in_sem_timedwait, SYS_futex, 0, 0, 0},
    {"sem_clockwait", in_sem_clockwait, SYS_futex, 0, 0, 0},
    {"pthread_join", in_join, SYS_futex, 0, 0, 0},
    {"pthread_timedjoin_np", in_timedjoin, SYS_futex, 0, 0, 0},
    {"pthread_clockjoin_np", in_clockjoin, SYS_futex, 0, 0, 0},
    {"pthread_once", in_once, SYS_futex, 0, 0, 0},
    {"read", in_read, SYS_read, 0, 0, 0},
    {"readv", in_readv, SYS_readv, 0, 0, 0},
    {"write", in_write, SYS_write, 0, 0, 0},
    {"writev", in_writev, SYS_writev, 0, 0, 0},
    {"recv", in_recv, SYS_recvfrom, 0, 0, 0},
    {"recvfrom", in_recvfrom, SYS_recvfrom, 0, 0, 0},
    {"recvmsg", in_recvmsg, SYS_recvmsg, 0, 0, 0},
    {"recvmmsg", in_recvmmsg, SYS_recvmmsg, 0, 0, 0},
    {"accept", in_accept, SYS_accept, 0, 0, 0},
    {"accept4", in_accept4, SYS_accept4, 0, 0, 0},
    {"poll", in_poll, SYS_poll, 0, 0, 0},
    {"ppoll", in_ppoll, SYS_ppoll, 0, 0, 0},
    {"select", in_select, SYS_pselect6, 0, 0, 0},
    {"pselect", in_pselect, SYS_pselect6, 0, 0, 0},
    {"epoll_wait", in_epoll_wait, SYS_epoll_wait, 0, 0, 0},
    {"epoll_pwait", in_epoll_pwait, SYS_epoll_pwait, 0, 0, 0},
    {"nanosleep", in_nanosleep, SYS_clock_nanosleep, 0, 0, 0},
    {"clock_nanosleep", in_clock_nanosleep, SYS_clock_nanosleep, 0, 0, 0},
    {"sleep", in_sleep, SYS_clock_nanosleep, 0, 0, 0},
    {"usleep", in_usleep, SYS_clock_nanosleep, 0, 0, 0},
    {"wait", in_wait, SYS_wait4, 0, 0, 0},
    {"waitpid", in_waitpid, SYS_wait4, 0, 0, 0},
    {"waitid", in_waitid, SYS_waitid, 0, 0, 0},
    {"wait4", in_wait4, SYS_wait4, 0, 0, 0},
    {"fcntl", in_setlkw, SYS_fcntl, hold_lease, end_lease, 0},
    {"msgrcv", in_msgrcv, SYS_msgrcv, 0, 0, 0},
    {"mq_receive", in_mq_receive, SYS_mq_timedreceive, 0, 0, 0},
    {"mq_timedreceive", in_mq_timedreceive, SYS_mq_timedreceive, 0, 0, 0},
    {"pthread_mutex_lock", in_mutex_lock, SYS_futex, hold_mutex, release_mutex,
     1},
    {"pthread_mutex_timedlock", in_mutex_timedlock, SYS_futex, hold_mutex,
     release_mutex, 1},
    {"pthread_mutex_clocklock", in_mutex_clocklock, SYS_futex, hold_mutex,
     release_mutex, 1},
    {"pthread_rwlock_rdlock", in_rdlock, SYS_futex, hold_rwlock, release_rwlock,
     1},
    {"pthread_rwlock_wrlock", in_wrlock, SYS_futex, hold_rwlock, release_rwlock,
     1},
    {"pthread_barrier_wait", in_barrier, SYS_futex, 0, release_barrier, 1},
    {"flock", in_flock, SYS_flock, hold_flock, release_flock, 1},
    {"semop", in_semop, SYS_semtimedop, 0, release_semop, 1},
};

// The system may have no message queues.
static int is_there(const struct point *p) {
  if (p->call == in_msgrcv)
    return message_queue >= 0;
  if (p->call == in_semop)
    return semaphores >= 0;
  if (p->call == in_mq_receive || p->call == in_mq_timedreceive)
    return posix_queue != (mqd_t)-1;
  return 1;
}

static void inner_handler(void *arg) {
  const struct point *p = arg;
  int got = pthread_mutex_trylock(&mutex);
  say("%s: inner handler, the mutex is %s", p->name,
      got == EBUSY ? "held" : "another's or free");
  pthread_mutex_unlock(&mutex);
}
static void outer_handler(void *arg) {
  const struct point *p = arg;
  // The thread can wait as before.
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  struct timespec soon = after(1);
  sem_timedwait(&empty, &soon);
  say("%s: outer handler", p->name);
}

static pthread_key_t key;
static void at_thread_end(void *arg) {
  const struct point *p = arg;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  say("%s: end of the thread", p->name);
}

static pid_t tid;

// The handlers know that their thread holds the mutex.
static void *wait_in(void *arg) {
  const struct point *p = arg;
  pthread_setspecific(key, p);
  pthread_cleanup_push(outer_handler, arg);
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(inner_handler, arg);
  about_to_wait(&tid);
  p->call();
  pthread_cleanup_pop(0);
  pthread_mutex_unlock(&mutex);
  pthread_testcancel();
  pthread_cleanup_pop(0);
  return NULL;
}

static void say_end(const struct point *p, void *value) {
  say("%s: %s", p->name,
      value == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
}

static void cancel_waiting(const struct point *p) {
  if (p->hold)
    p->hold();
  __atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
  pthread_t t;
  NEED(pthread_create(&t, NULL, wait_in, (void *)p) == 0);
  until_waits_in(&tid, p->number);
  NEED(pthread_cancel(t) == 0);
  if (p->goes_on) {
    usleep(2000);
    until_blocked(tid, p->number, NULL, 0); // still waits
    say("%s: went on", p->name);
    p->release();
  }
  void *value;
  NEED(pthread_join(t, &value) == 0);
  say_end(p, value);
  if (!p->goes_on && p->release)
    p->release();
  once = PTHREAD_ONCE_INIT;
}

// Calls that need not wait, in a thread that was cancelled before.

static sem_t full;
static pthread_t ended;
static int ready_pipe[2], file;
static pthread_once_t fresh_once;

static void no_wait_sem_wait(void) { sem_wait(&full); }
static void no_wait_sem_timedwait(void) { sem_timedwait(&full, &minute); }
static void no_wait_sem_clockwait(void) {
  sem_clockwait(&full, CLOCK_MONOTONIC, &minute);
}
static void no_wait_sem_trywait(void) { sem_trywait(&full); }
static void no_wait_sem_post(void) { sem_post(&full); }
static void no_wait_mutex(void) {
  pthread_mutex_lock(&held_mutex);
  pthread_mutex_unlock(&held_mutex);
}
static void no_wait_mutex_trylock(void) {
  pthread_mutex_trylock(&held_mutex);
  pthread_mutex_unlock(&held_mutex);
}
static void no_wait_mutex_timedlock(void) {
  pthread_mutex_timedlock(&held_mutex, &minute);
  pthread_mutex_unlock(&held_mutex);
}
static void no_wait_rdlock(void) {
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}
static void no_wait_wrlock(void) {
  pthread_rwlock_wrlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}
static void no_wait_cond_timedwait(void) {
  struct timespec past = {1, 0};
  pthread_cond_timedwait(&cond, &mutex, &past);
}
static void no_wait_signal(void) {
  pthread_cond_signal(&cond);
  pthread_cond_broadcast(&cond);
}
static void no_wait_join(void) { pthread_join(ended, NULL); }
static void no_wait_tryjoin(void) { pthread_tryjoin_np(sleeper, NULL); }
static pid_t ended_tid;
static void *end_at_once(void *arg) {
  __atomic_store_n(&ended_tid, own_tid(), __ATOMIC_RELEASE);
  return arg;
}
static void until_ended(void) {
  char path[40];
  do {
    usleep(100);
    snprintf(path, sizeof(path), "/proc/self/task/%d",
             __atomic_load_n(&ended_tid, __ATOMIC_ACQUIRE));
  } while (ended_tid == 0 || access(path, F_OK) == 0);
}
static void no_wait_create(void) {
  NEED(pthread_create(&ended, NULL, end_at_once, NULL) == 0);
}
static void nothing(void) {}
static void no_wait_once(void) { pthread_once(&fresh_once, nothing); }
static void no_wait_read(void) { NEED(read(ready_pipe[0], &byte, 1) == 1); }
static void no_wait_write(void) { NEED(write(ready_pipe[1], &byte, 1) == 1); }
static void no_wait_pread(void) { NEED(pread(file, &byte, 1, 0) >= 0); }
static void no_wait_pwrite(void) { NEED(pwrite(file, &byte, 1, 0) == 1); }
static void no_wait_send(void) { NEED(send(sockets[1], &byte, 1, 0) == 1); }
static void no_wait_fsync(void) { fsync(file); }
static void no_wait_fdatasync(void) { fdatasync(file); }
static void no_wait_poll(void) { poll(NULL, 0, 0); }
static void no_wait_select(void) {
  struct timeval now = {0, 0};
  select(0, NULL, NULL, NULL, &now);
}
static void no_wait_epoll_wait(void) {
  struct epoll_event e;
  epoll_wait(epoll, &e, 1, 0);
}
static void no_wait_nanosleep(void) {
  struct timespec now = {0, 0};
  nanosleep(&now, NULL);
}
static void no_wait_usleep(void) { usleep(0); }
static void no_wait_sleep(void) { sleep(0); }
static void no_wait_waitpid(void) { waitpid(child, NULL, WNOHANG); }
static void no_wait_accept(void) { accept(-1, NULL, NULL); }
static void no_wait_connect(void) { connect(-1, NULL, 0); }
static void no_wait_getfl(void) { fcntl(file, F_GETFL); }
static void no_wait_setlk(void) {
  struct flock l = whole_file(F_WRLCK);
  fcntl(file, F_SETLK, &l);
}
static void no_wait_setlkw(void) {
  struct flock l = whole_file(F_WRLCK);
  fcntl(file, F_SETLKW, &l);
}
static void no_wait_lockf(void) { NEED(lockf(file, F_LOCK, 1) == 0); }
static void no_wait_flock(void) {
  flock(locked_file, LOCK_EX);
  flock(locked_file, LOCK_UN);
}
static void no_wait_syscall(void) { syscall(SYS_getpid); }

static const struct point calls[] = {
    {"sem_wait", no_wait_sem_wait, 0, 0, 0, 0},
    {"sem_timedwait", no_wait_sem_timedwait, 0, 0, 0, 0},
    {"sem_clockwait", no_wait_sem_clockwait, 0, 0, 0, 0},
    {"sem_trywait", no_wait_sem_trywait, 0, 0, 0, 0},
    {"sem_post", no_wait_sem_post, 0, 0, 0, 0},
    {"pthread_mutex_lock", no_wait_mutex, 0, 0, 0, 0},
    {"pthread_mutex_trylock", no_wait_mutex_trylock, 0, 0, 0, 0},
    {"pthread_mutex_timedlock", no_wait_mutex_timedlock, 0, 0, 0, 0},
    {"pthread_rwlock_rdlock", no_wait_rdlock, 0, 0, 0, 0},
    {"pthread_rwlock_wrlock", no_wait_wrlock, 0, 0, 0, 0},
    {"pthread_cond_timedwait", no_wait_cond_timedwait, 0, 0, 0, 0},
    {"pthread_cond_signal", no_wait_signal, 0, 0, 0, 0},
    {"pthread_create", no_wait_create, 0, 0, 0, 0},
    {"pthread_join", no_wait_join, 0, 0, 0, 0},
    {"pthread_tryjoin_np", no_wait_tryjoin, 0, 0, 0, 0},
    {"pthread_once", no_wait_once, 0, 0, 0, 0},
    {"write", no_wait_write, 0, 0, 0, 0},
    {"read", no_wait_read, 0, 0, 0, 0},
    {"pread", no_wait_pread, 0, 0, 0, 0},
    {"pwrite", no_wait_pwrite, 0, 0, 0, 0},
    {"send", no_wait_send, 0, 0, 0, 0},
    {"fsync", no_wait_fsync, 0, 0, 0, 0},
    {"fdatasync", no_wait_fdatasync, 0, 0, 0, 0},
    {"poll", no_wait_poll, 0, 0, 0, 0},
    {"select", no_wait_select, 0, 0, 0, 0},
    {"epoll_wait", no_wait_epoll_wait, 0, 0, 0, 0},
    {"nanosleep", no_wait_nanosleep, 0, 0, 0, 0},
    {"usleep", no_wait_usleep, 0, 0, 0, 0},
    {"sleep", no_wait_sleep, 0, 0, 0, 0},
    {"waitpid", no_wait_waitpid, 0, 0, 0, 0},
    {"accept", no_wait_accept, 0, 0, 0, 0},
    {"connect", no_wait_connect, 0, 0, 0, 0},
    {"fcntl F_GETFL", no_wait_getfl, 0, 0, 0, 0},
    {"fcntl F_SETLK", no_wait_setlk, 0, 0, 0, 0},
    {"fcntl F_SETLKW", no_wait_setlkw, 0, 0, 0, 0},
    {"lockf", no_wait_lockf, 0, 0, 0, 0},
    {"flock", no_wait_flock, 0, 0, 0, 0},
    {"syscall", no_wait_syscall, 0, 0, 0, 0},
};

static int disabled, came_back;

static void *call_cancelled(void *arg) {
  const struct point *p = arg;
  int old;
  pthread_cleanup_push(outer_handler, arg);
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(inner_handler, arg);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
  pthread_cancel(pthread_self());
  if (!disabled)
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
  errno = UNTOUCHED;
  p->call();
  came_back = 1;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
  pthread_testcancel();
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(0);
  return NULL;
}

static void call_with_pending(const struct point *p) {
  came_back = 0;
  if (p->call == no_wait_create)
    __atomic_store_n(&ended_tid, 0, __ATOMIC_RELEASE);
  if (p->call == no_wait_join)
    until_ended(); // so that the join need not wait
  fresh_once = PTHREAD_ONCE_INIT;
  NEED(sem_init(&full, 0, 1) == 0);
  pthread_t t;
  void *value;
  NEED(pthread_create(&t, NULL, call_cancelled, (void *)p) == 0);
  NEED(pthread_join(t, &value) == 0);
  say("%s: %s", p->name, came_back ? "went on" : "not come back");
  say_end(p, value);
  int left;
  NEED(sem_getvalue(&full, &left) == 0);
  if (strncmp(p->name, "sem_", 4) == 0)
    say("the semaphore has %d", left);
}

static void *stay(void *unused) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  while (sem_wait(&leave) != 0)
    ;
  return unused;
}

static void prepare(void) {
  NEED(pthread_key_create(&key, at_thread_end) == 0);
  NEED(pthread_mutex_init(&mutex, NULL) == 0);
  NEED(pthread_mutex_init(&held_mutex, NULL) == 0);
  NEED(pthread_cond_init(&cond, NULL) == 0);
  NEED(pthread_rwlock_init(&rwlock, NULL) == 0);
  NEED(pthread_barrier_init(&barrier, NULL, 2) == 0);
  NEED(sem_init(&empty, 0, 0) == 0 && sem_init(&leave, 0, 0) == 0);
  NEED(pipe(empty_pipe) == 0 && pipe(ready_pipe) == 0);
  NEED(pipe2(full_pipe, O_NONBLOCK) == 0);
  while (write(full_pipe[1], &byte, 1) == 1)
    ;
  NEED(fcntl(full_pipe[1], F_SETFL, 0) == 0);
  NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  struct sockaddr_in local;
  memset(&local, 0, sizeof(local));
  local.sin_family = AF_INET;
  local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listening = socket(AF_INET, SOCK_STREAM, 0);
  NEED(bind(listening, (struct sockaddr *)&local, sizeof(local)) == 0);
  NEED(listen(listening, 1) == 0);
  udp = socket(AF_INET, SOCK_DGRAM, 0);
  NEED(bind(udp, (struct sockaddr *)&local, sizeof(local)) == 0);
  epoll = epoll_create1(0);
  unlocked_file = open("lock", O_RDWR | O_CREAT, 0600);
  locked_file = open("lock", O_RDWR);
  file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  NEED(epoll >= 0 && unlocked_file >= 0 && locked_file >= 0 && file >= 0);
  message_queue = msgget(IPC_PRIVATE, 0600);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  char name[40];
  snprintf(name, sizeof(name), "/mprof.test.%d", getpid());
  struct mq_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.mq_maxmsg = 1;
  attr.mq_msgsize = 8;
  posix_queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
  if (posix_queue != (mqd_t)-1)
    mq_unlink(name);
  NEED((child = fork()) >= 0);
  if (child == 0)
    for (;;)
      pause();
}

static void remove_all(void) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  msgctl(message_queue, IPC_RMID, NULL);
  semctl(semaphores, 0, IPC_RMID);
}

int main(void) {
  prepare();
  NEED(pthread_create(&sleeper, NULL, stay, NULL) == 0);
  say("-- cancelled while it waits");
  for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
    if (is_there(&waits[i]))
      cancel_waiting(&waits[i]);
    else
      say("%s: not here", waits[i].name);
  for (disabled = 0; disabled < 2; disabled++) {
    say(disabled ? "-- cancellation disabled" : "-- cancelled before");
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
      call_with_pending(&calls[i]);
  }
  remove_all();
  NEED(sem_post(&leave) == 0);
  NEED(pthread_join(sleeper, NULL) == 0);
  say("end");
  return 0;
}
