// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof run --wall shows where the time of all threads went, and in
// which states they were. mprof attach --wall does so for a process that runs
// already and is built without MProf.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -lpthread -o app
// RUN: %mprof run --wall ./app 2> out && FileCheck %s < out
// CHECK: wall of ./app
// CHECK: in_cond {{.*}} via pthread_cond_wait
// CHECK: wall share state
// CHECK: {{.*}} cond{{$}}
// CHECK: mprof top {{.*}}.wall.pb.gz
//
// RUN: %gcc -DPLAIN -O1 -g %s -lpthread -o plain
// RUN: ./plain > ready & p=$!; until test -s ready; do kill -0 $p || exit 1; sleep 0.1; done; \
// RUN:   %mprof attach $p --wall --seconds=1 2> attached; kill $p; cat attached
// RUN: grep -A2 'wall  share  state' attached | grep cond

#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *in_cond(void *arg) {
  pthread_mutex_lock(&lock);
  for (;;)
    pthread_cond_wait(&never, &lock);
  return arg;
}

#ifdef PLAIN
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, in_cond, NULL);
  if (write(STDOUT_FILENO, "x", 1) == 1)
    for (;;)
      usleep(1000);
}
#else
#include "wall_profile.h"

int main(void) {
  pthread_t t;
  CHECK_EQ(pthread_create(&t, NULL, in_cond, NULL), 0);
  while (!wall_has("in_cond"))
    usleep(10000);
  return 0;
}
#endif
