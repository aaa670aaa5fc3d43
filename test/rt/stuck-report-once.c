// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with stuck_report=1 a process with deadlocked threads reports them
// once, in a file and on stderr, while the process runs. So does its forked
// child. The thread of MProf that does this is in no profile and gets no signal
// of the program. The labels of the deadlocked threads are in the file and in
// the profile threadleak.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck_report=1:log_path=x.%%p} timeout 600 ./app 2> err.txt
// RUN: FileCheck %s < err.txt
// RUN: cat x.*.stuck.txt | FileCheck %s --check-prefix=FILE
// RUN: ls x.*.stuck.txt | wc -l | FileCheck %s --check-prefix=TWO
//
// CHECK-COUNT-2: mprof: 2 threads are stuck (2 certain, 0 likely): wrote x.{{[0-9]+}}.stuck.txt
// CHECK-NOT: are stuck
// FILE-COUNT-2: Cycle 1 of 1: 2 threads wait for one another
// FILE-NOT: Cycle
// TWO: {{^}}2{{$}}
// RUN: cat x.*.stuck.txt | FileCheck %s --check-prefix=LABELS
// LABELS-COUNT-2: {{^}}    labels {"customer":"acme"}{{$}}
// RUN: %mprof_read --symbolize leak.pb.gz | FileCheck %s --check-prefix=PROFILE
// PROFILE-DAG: grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} customer=acme : pthread_mutex_lock <- a_then_b
// PROFILE-DAG: grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_mutex_lock <- b_then_a

#include "deadlock.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

static void *labelled(void *tid) {
  mprof_label_set("customer", "acme");
  return a_then_b(tid);
}

static pid_t hit;
static void on_signal(int sig) {
  (void)sig;
  hit = own_tid();
}

// Waits until MProf's thread sleeps without a time limit. It can then report
// nothing more.
static void until_watch_rests(void) {
  char path[300], text[200];
  uintptr_t limit = 1;
  while (limit != 0) {
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
      snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
      if (!read_start(path, text, sizeof(text)) || strcmp(text, "mprof\n") != 0)
        continue;
      snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", task->d_name);
      if (read_start(path, text, sizeof(text)))
        sscanf(text, "%*d %*x %*x %*x %lx", &limit);
    }
    closedir(tasks);
    pause_us(1000);
  }
}

static void deadlock(void) {
  init_deadlock();
  create_waiter(0, labelled);
  create_waiter(1, b_then_a);
  until_reported();
  struct mprof_stack_record records[16];
  size_t n;
  NEED(mprof_thread_profile(records, 16, &n) == 0 && n == 3);
  NEED(mprof_write_profile("threadleak", "leak.pb.gz", 0) == 0);
  kill(getpid(), SIGUSR1);
  NEED(hit == own_tid());
  until_watch_rests();
}

int main(void) {
  signal(SIGUSR1, on_signal);
  pid_t child = fork();
  deadlock();
  if (child == 0)
    _exit(0);
  int status;
  NEED(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
