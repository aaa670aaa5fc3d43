// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that was built with MProf and the same program under
// mprof run record the same kinds of waits. compare_waits.py has the list of
// the differences, with the reasons, and reads the kinds in hooks.def.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -std=c++20 -O1 -g1 -I%src/test/Inputs %s -o plain
// RUN: %mprof_clangxx -fmprof -std=c++20 -O1 -g1 -I%src/test/Inputs %s -o built
// RUN: %run{heap=0:block_rate=1:block_kinds=all:log_path=built} ./built
// RUN: %run{heap=0:block_rate=1:block_kinds=all:log_path=plain} LD_PRELOAD=%preload ./plain
// RUN: for r in built plain; do %mprof traces -n 0 -s contentions $r.*.block.pb.gz > $r || exit 1; done
// RUN: %python %S/Inputs/compare_waits.py %src/include/mprof/hooks.def built plain

#include "sync-observe.h"

#include <fcntl.h>
#include <future>
#include <linux/futex.h>
#include <mutex>
#include <netdb.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static pid_t waiter; // the thread that is about to wait
static int file, same_file;

// A wait that no other thread has to end.
#define ALONE(Name, ...)                                                       \
  __attribute__((noinline)) static void do_##Name() {                          \
    __VA_ARGS__;                                                               \
    __asm__ volatile("" ::: "memory");                                         \
  }
ALONE(mutex, {
  const timespec end = after(1);
  NEED(pthread_mutex_timedlock(&mutex, &end) == ETIMEDOUT);
})
ALONE(rwlock, {
  const timespec end = after(1);
  NEED(pthread_rwlock_timedwrlock(&rwlock, &end) == ETIMEDOUT);
})
ALONE(cond, {
  const timespec end = after(1);
  NEED(pthread_cond_timedwait(&cond, &mutex, &end) == ETIMEDOUT);
})
ALONE(sem, {
  const timespec end = after(1);
  NEED(sem_timedwait(&sem, &end) == -1 && errno == ETIMEDOUT);
})
ALONE(future, {
  std::promise<int> promise;
  NEED(promise.get_future().wait_for(std::chrono::milliseconds(1)) ==
       std::future_status::timeout);
})
ALONE(futex, {
  static int word;
  static const timespec length = {0, 1000000};
  NEED(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &length, NULL, 0) ==
       -1);
})
ALONE(try, NEED(pthread_mutex_trylock(&mutex) == EBUSY))
ALONE(io, {
  int ends[2];
  char byte = 0;
  NEED(pipe(ends) == 0 && write(ends[1], &byte, 1) == 1);
  NEED(read(ends[0], &byte, 1) == 1);
})
ALONE(net, {
  int ends[2];
  char byte = 0;
  NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  NEED(send(ends[1], &byte, 1, 0) == 1 && recv(ends[0], &byte, 1, 0) == 1);
})
ALONE(poll, NEED(poll(NULL, 0, 1) == 0))
ALONE(sleep, NEED(usleep(1000) == 0))
ALONE(child, {
  const pid_t child = fork();
  if (child == 0)
    _exit(0);
  NEED(waitpid(child, NULL, 0) == child);
})
ALONE(fsync, NEED(fsync(file) == 0))
ALONE(dns, {
  addrinfo *a = NULL, hints = {};
  hints.ai_flags = AI_NUMERICHOST;
  NEED(getaddrinfo("127.0.0.1", NULL, &hints, &a) == 0);
  freeaddrinfo(a);
})
ALONE(ipc, {
  sigset_t set;
  int got;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  NEED(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGUSR1) == 0);
  NEED(sigwait(&set, &got) == 0);
})
// The kernel refuses the descriptor. MProf counts each call.
ALONE(uring, NEED(syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0) == -1))

// Waits that another thread ends, which calls until_sleeps first.
static void wait_for_waiter() {
  until_sleeps(&waiter);
  waiter = 0;
}
static int is_initializing;
static int initialize() {
  __atomic_store_n(&is_initializing, 1, __ATOMIC_RELEASE);
  wait_for_waiter();
  return 1;
}
ALONE(once, pthread_once(&once, [] { initialize(); }))
ALONE(static, {
  static const int value = initialize();
  NEED(value == 1);
})
ALONE(file, NEED(flock(same_file, LOCK_EX) == 0))
static sem_t ends;
static void until_posted() {
  while (sem_trywait(&ends) != 0)
    pause_us(1000);
}
ALONE(join, {
  std::thread other(until_posted);
  about_to_wait(&waiter);
  other.join();
})
ALONE(barrier, pthread_barrier_wait(&barrier))

// Calls f in two threads. The first runs initialize, which waits until the
// second waits for the first.
static void contest(void (*f)()) {
  is_initializing = 0;
  std::thread first(f);
  while (!__atomic_load_n(&is_initializing, __ATOMIC_ACQUIRE))
    pause_us(100);
  std::thread second([&] {
    about_to_wait(&waiter);
    f();
  });
  first.join();
  second.join();
}

ALONE(spin, pthread_spin_lock(&spin))

// Waits until the spinning thread has used a millisecond of CPU time, so that
// it is in pthread_spin_lock.
static void contest_spin() {
  NEED(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
  NEED(pthread_spin_lock(&spin) == 0);
  std::thread other([] {
    about_to_wait(&waiter);
    do_spin();
  });
  clockid_t clock;
  timespec begin, now;
  while (__atomic_load_n(&waiter, __ATOMIC_ACQUIRE) == 0)
    pause_us(100);
  NEED(pthread_getcpuclockid(other.native_handle(), &clock) == 0);
  clock_gettime(clock, &begin);
  do {
    pause_us(1000);
    clock_gettime(clock, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec -
               begin.tv_nsec <
           1000000);
  NEED(pthread_spin_unlock(&spin) == 0);
  other.join();
  waiter = 0;
}

static void contest_file() {
  NEED(flock(file, LOCK_EX) == 0);
  std::thread other([] {
    about_to_wait(&waiter);
    do_file();
  });
  wait_for_waiter();
  NEED(flock(file, LOCK_UN) == 0);
  other.join();
}

static void contest_join() {
  std::thread other([] { do_join(); });
  wait_for_waiter();
  NEED(sem_post(&ends) == 0);
  other.join();
}

static void contest_barrier() {
  NEED(pthread_barrier_init(&barrier, NULL, 2) == 0);
  std::thread other(do_barrier);
  do_barrier(); // the first of the two threads waits
  other.join();
}

int main() {
  file = open("file", O_RDWR | O_CREAT, 0600);
  same_file = open("file", O_RDWR);
  NEED(file >= 0 && same_file >= 0);
  NEED(sem_init(&sem, 0, 0) == 0 && sem_init(&ends, 0, 0) == 0);
  NEED(pthread_mutex_lock(&mutex) == 0);
  NEED(pthread_rwlock_rdlock(&rwlock) == 0);
  for (void (*f)() : {do_mutex, do_rwlock, do_cond, do_sem, do_future, do_futex,
                      do_try, do_io, do_net, do_poll, do_sleep, do_child,
                      do_fsync, do_dns, do_ipc, do_uring})
    f();
  contest(do_once);
  contest(do_static);
  contest_spin();
  contest_file();
  contest_join();
  contest_barrier();
  return 0;
}
