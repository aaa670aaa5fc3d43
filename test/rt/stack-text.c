// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_stack describes the calling thread, or all threads, as text
// with functions and lines. The text names each thread's creator and the call
// in which the thread waits. If the buffer is NULL, the text goes to stderr.
// The profile of all threads with format 2 has the same text. A short buffer
// gets the beginning of the text, and nothing is written beyond the buffer. In
// a signal handler the text has only addresses.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{threads=1} ./app > out.txt 2> err.txt
// RUN: FileCheck %s --match-full-lines < out.txt
// RUN: FileCheck %s --match-full-lines --check-prefix=LIST < list.txt
// RUN: FileCheck %s --match-full-lines --check-prefix=LIST < err.txt
// RUN: FileCheck %s --check-prefix=HANDLER < handler.txt
//
// CHECK: thread {{[0-9]+}} "first" [running]:
// CHECK-NEXT: take
// CHECK-NEXT: {{.*}}stack-text.c:{{[0-9]+}}
// CHECK-NEXT: main
// CHECK-NEXT: {{.*}}stack-text.c:{{[0-9]+}}
// CHECK-NEXT: --
// CHECK-NEXT: thread {{[0-9]+}} "first" [running]:
// CHECK-NEXT: take
// CHECK-NEXT: {{.*}}stack-text.c:{{[0-9]+}}
// CHECK-NEXT: main
// CHECK-NEXT: {{.*}}stack-text.c:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: thread {{[0-9]+}} "sleeper ?[31m" [pthread_cond_wait]:
// CHECK-NEXT: pthread_cond_wait
// CHECK-NEXT: {{.*}}libc{{.*}}
// CHECK-NEXT: sleeper
// CHECK-NEXT: {{.*}}stack-text.c:{{[0-9]+}}
// CHECK-NEXT: created by begin
// CHECK-NEXT: {{.*}}stack-text.c:{{[0-9]+}}
// CHECK-NEXT: --
//
// LIST: thread {{[0-9]+}} "first" [running]:
// LIST: thread {{[0-9]+}} "sleeper ?[31m" [pthread_cond_wait]:
// LIST-NEXT: pthread_cond_wait
// LIST: created by begin
// LIST-NOT: thread {{[0-9]+}} {{.*}}
//
// HANDLER: thread {{[0-9]+}} "first" [running]:
// HANDLER-NEXT: {{^0x[0-9a-f]+$}}
// HANDLER-NOT: [truncated]
// HANDLER: thread {{[0-9]+}} "sleeper ?[31m" [pthread_cond_wait]:
// HANDLER-NEXT: {{^0x[0-9a-f]+$}}
// HANDLER-NEXT: {{^0x[0-9a-f]+$}}
// HANDLER-NEXT: created by {{0x[0-9a-f]+$}}
// HANDLER-NOT: stack-text.c

#include "waited.h"

#include <signal.h>
#include <sys/prctl.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int sleeps, may_end;
static pthread_t thread;
static char text[65536], cut[65536];

__attribute__((noinline)) static void *sleeper(void *arg) {
  prctl(PR_SET_NAME, "sleeper \x1b[31m"); // control characters are replaced
  pthread_mutex_lock(&mutex);
  sleeps = 1;
  while (!may_end)
    pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
  return arg;
}

__attribute__((noinline)) static void begin(void) {
  NEED(pthread_create(&thread, NULL, sleeper, NULL) == 0);
}

__attribute__((noinline)) static void take(void) {
  NEED(mprof_stack(text, sizeof(text), 0) == strlen(text));
  printf("%s--\n", text);
  NEED(mprof_stack(text, sizeof(text), 1) == strlen(text));
  printf("%s--\n", text);
}

static char in_handler[65536];
static void handle(int sig) {
  (void)sig;
  NEED(mprof_stack(in_handler, sizeof(in_handler), 1) == strlen(in_handler));
}

int main(void) {
  prctl(PR_SET_NAME, "first");
  begin();
  // The wait is noted before the thread releases the mutex.
  for (int n = 0; n == 0;) {
    usleep(1000);
    pthread_mutex_lock(&mutex);
    n = sleeps;
    pthread_mutex_unlock(&mutex);
  }
  take();
  NEED(mprof_stack(NULL, 100, 1) == 0 && mprof_stack(text, 0, 1) == 0);
  const size_t whole = strlen(text);
  for (size_t len = 1; len < whole + 2; len += len < 3 ? 1 : 97) {
    memset(cut, 0x5a, sizeof(cut));
    const size_t n = mprof_stack(cut, len, len < 300);
    NEED(n < len && cut[n] == '\0' && strlen(cut) == n);
    for (size_t i = len; i < sizeof(cut); i++)
      NEED(cut[i] == 0x5a);
  }
  NEED(mprof_write_profile("threads", "list.txt", 2) == 0);
  // Unwinds through the frame that the kernel makes for a handler on an
  // alternate stack.
  static char alternate[65536];
  const stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
  NEED(sigaltstack(&other, NULL) == 0);
  struct sigaction on_other;
  memset(&on_other, 0, sizeof(on_other));
  on_other.sa_handler = handle;
  on_other.sa_flags = SA_ONSTACK;
  NEED(sigaction(SIGUSR1, &on_other, NULL) == 0);
  raise(SIGUSR1);
  FILE *f = fopen("handler.txt", "w");
  NEED(f != NULL && fputs(in_handler, f) >= 0 && fclose(f) == 0);
  pthread_mutex_lock(&mutex);
  may_end = 1;
  pthread_cond_signal(&cond);
  pthread_mutex_unlock(&mutex);
  NEED(pthread_join(thread, NULL) == 0);
  return 0;
}
