// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the program has done next to nothing but start another one, as
// timeout does, mprof run shows the other one's profiles, says so, and names
// the command for the rest. A program that does more is shown itself, and mprof
// run does not say that nothing was found if another process has found it.
//
// RUN: rm -rf '%t.d r' && mkdir '%t.d r' && cd '%t.d r'
// RUN: %clang -O1 -g1 %s -o app -pthread
// RUN: for wrapper in 'timeout 100' './app starts'; do \
// RUN:   %mprof run --lock-order -o 'a b' $wrapper ./app cycle > out 2>&1 && FileCheck %s < out && \
// RUN:   not grep 'no cycle' out && rm -r 'a b' || exit 1; done
// CHECK: mprof run: {{timeout|./app}} itself has done next to nothing; shown is its process [[PID:[0-9]+]], app, which has done most
// CHECK: 1 potential deadlock
// CHECK: mprof traces '{{.*}}/a b/mprof.app.[[PID]].lockorder.pb.gz'
// CHECK: files of other processes are new in
// CHECK-NEXT: mprof explain '{{.*}}/a b/mprof.{{timeout|app}}.{{[0-9]+}}'.*.pb.gz
//
// RUN: %mprof run --heap-rate=1 --lock-order -o more ./app allocates ./app cycle > out 2>&1
// RUN: FileCheck %s --check-prefix=MORE < out && not grep -e 'next to nothing' -e 'no cycle' out
// MORE: lockorder profile: empty, but not that of another process
// MORE-NEXT: mprof traces {{.*}}/more/mprof.app.[[PID:[0-9]+]].lockorder.pb.gz
// MORE: inuse_space of ./app allocates ./app cycle
// MORE: files of other processes are new in
// MORE-NEXT: mprof explain '{{.*}}/more/mprof.app.[[PID]]'.*.pb.gz

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER,
                       b = PTHREAD_MUTEX_INITIALIZER;
static void *volatile block;

__attribute__((noinline)) static void take(pthread_mutex_t *first,
                                           pthread_mutex_t *second) {
  pthread_mutex_lock(first);
  pthread_mutex_lock(second);
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
}

static void *audit(void *arg) {
  take(&b, &a);
  return arg;
}

int main(int argc, char **argv) {
  pthread_t t;
  if (argc == 2) {
    take(&a, &b);
    return pthread_create(&t, NULL, audit, NULL) || pthread_join(t, NULL);
  }
  if (strcmp(argv[1], "allocates") == 0)
    block = malloc(2 << 20);
  if (fork() == 0) {
    execv(argv[2], argv + 2);
    _exit(127);
  }
  return wait(NULL) < 0;
}
