// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program without MProf that does what each line on its standard input says,
// and replies with a line. Built with -DPLUGIN, it is a library for it.

#include <stdlib.h>

__attribute__((noinline)) void *APP_ALLOC(size_t size) {
  void *p = malloc(size);
  __asm__ volatile("" : "+r"(p)::"memory");
  return p;
}

#ifndef PLUGIN
#include "../../Inputs/cpu_work.h"

BURNER(use_processor)

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *kept[10000];
static size_t count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_lock(void *arg) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return arg;
}

// Lets another thread wait for the lock.
__attribute__((noinline)) static void app_contend(void) {
  pthread_t t;
  pthread_mutex_lock(&lock);
  pthread_create(&t, NULL, wait_for_lock, NULL);
  usleep(100000);
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
}

// Takes two locks, one after the other.
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER,
                       right = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void app_take(pthread_mutex_t *first,
                                               pthread_mutex_t *second) {
  pthread_mutex_lock(first);
  pthread_mutex_lock(second);
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
}

static void renew_locks(void) {
  pthread_mutex_destroy(&left);
  pthread_mutex_destroy(&right);
  pthread_mutex_init(&left, NULL);
  pthread_mutex_init(&right, NULL);
}

static void *sleep_for_ever(void *arg) {
  for (;;)
    pause();
  return arg;
}

// Runs inside of functions of malloc that have no frame, and no name in libc.
static void align_for_ever(void) {
  static void *blocks[1000];
  for (unsigned i = 0;; i++) {
    free(blocks[i % 1000]);
    blocks[i % 1000] = memalign(64, i % 3000 + 1);
  }
}

static void alloc(unsigned n) {
  while (n-- > 0)
    kept[count++] = APP_ALLOC(1000);
}

// Installs a seccomp filter that allows all system calls.
static void filter_calls(void) {
  struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {1, &all};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void mask_profiling_signal(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPROF);
  pthread_sigmask(how, &set, NULL);
}

static void in_child(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    alloc(5);
    exit(7);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  printf("child %d ", WEXITSTATUS(status));
}

// A child goes on in place of the program, and tells its process id.
static void continue_in_child(void) {
  int status = 0;
  const pid_t pid = fork();
  if (pid > 0) {
    waitpid(pid, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  printf("%d ", (int)getpid());
}

int main(int argc, char **argv) {
  char line[4096];
  for (int i = 0; i < 3; i++)
    pthread_create(&(pthread_t){0}, NULL, sleep_for_ever, NULL);
  if (argc > 1)
    align_for_ever();
  while (fgets(line, sizeof line, stdin)) {
    char *rest = line + 2;
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == 'a')
      alloc((unsigned)atoi(rest));
    if (line[0] == 'f')
      while (count > 0)
        free(kept[--count]);
    if (line[0] == 'b')
      use_processor(300);
    if (line[0] == 'm' || line[0] == 'u')
      mask_profiling_signal(line[0] == 'm' ? SIG_BLOCK : SIG_UNBLOCK);
    if (line[0] == 'c')
      app_contend();
    if (line[0] == 'l')
      app_take(&left, &right);
    if (line[0] == 'r')
      app_take(&right, &left);
    if (line[0] == 'n')
      renew_locks();
    if (line[0] == 'k')
      in_child();
    if (line[0] == 'w')
      continue_in_child();
    if (line[0] == 'x')
      exit(3);
    if (line[0] == 's')
      filter_calls();
    if (line[0] == 'e') {
      fputs("ok\n", stdout);
      fflush(stdout);
      execl(argv[0], argv[0], NULL);
    }
    if (line[0] == 'd') {
      void *h = dlopen(rest, RTLD_NOW);
      void *(*f)(size_t) = h ? (void *(*)(size_t))dlsym(h, "plugin_alloc") : 0;
      for (int i = 0; f && i < 4; i++)
        kept[count++] = f(500);
    }
    puts("ok");
    fflush(stdout);
  }
  return 0;
}
#endif
