// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a profile of many threads has all threads of the process, and no
// thread that has ended. This also holds if MProf has seen no event of a
// thread, and if as many other threads have ended without MProf's notice: by
// the system call exit, also in a signal handler that has interrupted a wait,
// or after an event in a destructor of thread-specific data. If MProf knows all
// threads, it does not read the kernel's list. If a seccomp filter refuses to
// look up threads, no thread is missing.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -c -o main.o
// RUN: %clang -O1 -DUNINSTRUMENTED %s -c -o unseen.o
// RUN: %mprof_clang -fmprof -fno-mprof-intercept main.o unseen.o -o app
// RUN: %run_quiet{threads=1:symbolize=0} ./app return
// RUN: %run_quiet{threads=1:symbolize=0} ./app late
// RUN: %run_quiet{threads=1:symbolize=0} ./app exit
// RUN: %run_quiet{threads=1:symbolize=0} ./app handler
// RUN: %run_quiet{threads_stop=1:symbolize=0} ./app exit
// RUN: %run_quiet{threads_stop=1:symbolize=0} ./app handler
//
// An emulator has no seccomp filters.
// RUN: %if !emulated %{ %run_quiet{threads=1:symbolize=0} ./app no-look-up %}
// RUN: %if !emulated %{ %run{threads=1:symbolize=0:snapshot_every=1h} \
// RUN:     ./app refused && FileCheck %s < mprof.app.*.txt %}
//
// CHECK: {{^ +1 }}thread profile that lacks the threads without recorded events, because /proc/self/task could not be read{{$}}

#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

// A thread of code that was not compiled with MProf.
struct unseen {
  pthread_t thread;
  pid_t tid;
  sem_t may_end;
};
int start_unseen(struct unseen *u);

#ifdef UNINSTRUMENTED

static __attribute__((noinline, section("code_unseen"))) void *
wait_unseen(void *arg) {
  struct unseen *u = arg;
  __atomic_store_n(&u->tid, gettid(), __ATOMIC_RELEASE);
  while (sem_wait(&u->may_end) != 0)
    ;
  return NULL;
}

int start_unseen(struct unseen *u) {
  return pthread_create(&u->thread, NULL, wait_unseen, u);
}

#else

#include "waited.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { SEEN = 50, MOST = 100 };

DECLARE_CODE(unseen);

static void *volatile sink;

// --- the profile ---

static void check_profile(size_t threads, size_t unseen_threads) {
  static struct mprof_stack_record r[MOST];
  const struct code c = CODE(unseen);
  size_t n, found = 0;
  CHECK_EQ(mprof_thread_profile(r, MOST, &n), 0);
  CHECK_EQ(n, threads);
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < MPROF_RECORD_STACK && r[i].stack0[k] != 0; k++)
      found += is_in(&c, r[i].stack0[k]);
  CHECK_EQ(found, unseen_threads);
}

// --- threads that MProf knows ---

struct seen {
  pthread_t thread;
  pid_t tid;
  void *(*end)(void *);
  sem_t has_begun, may_end;
};

static void *run(void *arg) {
  struct seen *s = arg;
  __atomic_store_n(&s->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
  sink = malloc(1);
  sem_post(&s->has_begun);
  sem_wait(&s->may_end);
  return s->end(s);
}

static void begin_seen(struct seen *s, void *(*end)(void *)) {
  s->end = end;
  NEED(sem_init(&s->has_begun, 0, 0) == 0 && sem_init(&s->may_end, 0, 0) == 0);
  NEED(pthread_create(&s->thread, NULL, run, s) == 0);
  sem_wait(&s->has_begun);
}

static void end_seen(struct seen *s) {
  until_sleeps(&s->tid);
  if (s->end)
    sem_post(&s->may_end);
  else
    pthread_kill(s->thread, SIGUSR1);
  NEED(pthread_join(s->thread, NULL) == 0);
  until_gone(s->tid);
}

// --- a thread that MProf does not know ---

static void begin_unseen(struct unseen *u) {
  *u = (struct unseen){.tid = 0};
  NEED(sem_init(&u->may_end, 0, 0) == 0 && start_unseen(u) == 0);
  until_sleeps(&u->tid);
}

static void end_unseen(struct unseen *u) {
  sem_post(&u->may_end);
  NEED(pthread_join(u->thread, NULL) == 0);
  until_gone(u->tid);
}

// --- the ends of threads ---

static void *by_return(void *arg) { return arg; }

static void *by_system_call(void *arg) {
  syscall(SYS_exit, 0);
  return arg;
}

static void in_handler(int sig) {
  (void)sig;
  syscall(SYS_exit, 0);
}

static pthread_key_t late;

static void register_again(void *arg) {
  size_t n;
  (void)arg;
  CHECK_EQ(mprof_thread_profile(NULL, 0, &n), ERANGE);
}

static void *with_late_event(void *arg) {
  NEED(pthread_setspecific(late, arg) == 0);
  return arg;
}

// Lets a thread that MProf knows end, while there is another one that it does
// not know.
static void check_end(void *(*fn)(void *), size_t known) {
  struct seen ends;
  struct unseen u;
  begin_seen(&ends, fn);
  check_profile(known + 1, 0);
  begin_unseen(&u);
  check_profile(known + 2, 1);
  end_seen(&ends);
  check_profile(known + 1, 1);
  check_profile(known + 1, 1);
  end_unseen(&u);
  check_profile(known, 0);
}

// --- refused system calls ---

static void refuse(unsigned call) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]),
                                     filter};
  NEED(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  NEED(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}

static void check_list_refused(size_t known) {
  struct unseen u;
  refuse(SYS_getdents64);
  check_profile(known, 0);
  begin_unseen(&u);
  check_profile(known, 0);
  end_unseen(&u);
}

static void check_look_up_refused(size_t known) {
  refuse(SYS_tgkill);
  check_profile(known, 0);
}

int main(int argc, char **argv) {
  static struct seen seen[SEEN];
  NEED(argc == 2 && pthread_key_create(&late, register_again) == 0);
  signal(SIGUSR1, in_handler);
  for (int i = 0; i < SEEN; i++)
    begin_seen(&seen[i], by_return);
  check_profile(1 + SEEN, 0);
  if (strcmp(argv[1], "refused") == 0)
    check_list_refused(1 + SEEN);
  else if (strcmp(argv[1], "no-look-up") == 0)
    check_look_up_refused(1 + SEEN);
  else if (strcmp(argv[1], "return") == 0)
    check_end(by_return, 1 + SEEN);
  else if (strcmp(argv[1], "late") == 0)
    check_end(with_late_event, 1 + SEEN);
  else if (strcmp(argv[1], "handler") == 0)
    check_end(NULL, 1 + SEEN);
  else
    check_end(by_system_call, 1 + SEEN);
  return 0; // now a profile of the same threads is written
}

#endif
