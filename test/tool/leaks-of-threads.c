// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof leaks reports the storage of ended threads that were never
// joined or detached. Storage of joined and of live threads is no leak. Between
// two profiles, all growth of this storage counts.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -pthread -o app
// RUN: export MPROF_OPTIONS=heap_rate=1:log_path=x
// RUN: ./app joined 60 && %build/bin/mprof leaks x.*.heap.pb.gz \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: rm x.* && ./app live 60 && %build/bin/mprof leaks x.*.heap.pb.gz \
// RUN:   | FileCheck %s --check-prefix=NONE
// NONE: leaks: 0 B at 0 stacks
// NONE: without {{[0-9]+}} blocks
//
// The main thread, and the 20 stacks that glibc may keep.
// RUN: rm x.* && ./app left 60 && cp x.*.heap.pb.gz many.pb.gz
// RUN: not %build/bin/mprof leaks many.pb.gz | FileCheck %s --check-prefix=LEFT
// LEFT-NOT: leak of
// LEFT: leak of {{.*}} in 39 blocks: threads that were never joined or detached
// LEFT-NEXT: main  leaks-of-threads.c:[[#]] via pthread_create
// LEFT: leaks: {{[1-9].*}} at 1 stack
// LEFT-NEXT: without 21 blocks
//
// RUN: rm x.* && ./app left 2 && cp x.*.heap.pb.gz few.pb.gz
// RUN: not %build/bin/mprof leaks few.pb.gz many.pb.gz \
// RUN:   | FileCheck %s --check-prefix=GROWTH
// GROWTH: grew by {{.*}} in 60 blocks
// GROWTH-NEXT: main  leaks-of-threads.c:[[#]] via pthread_create
//
// Profiles without the number of live threads.
// RUN: stack='/lib/ld-linux-x86-64.so.2!allocate_dtv;/lib/libc.so.6!pthread_create;main'
// RUN: for n in 15 60; do echo "$n 300 $stack" | \
// RUN:   %python -B %S/Inputs/heap_profile.py 1 4096 $n.pb.gz || exit 1; done
// RUN: %build/bin/mprof leaks 15.pb.gz && not %build/bin/mprof leaks 60.pb.gz \
// RUN:   | grep 'in 40 blocks: threads that were never joined or detached'

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *end(void *arg) {
  *(long *)arg = syscall(SYS_gettid);
  return arg;
}
static void *wait_for_exit(void *arg) {
  for (;;)
    pause();
  return arg;
}

int main(int argc, char **argv) {
  const int count = argc == 3 ? atoi(argv[2]) : 0;
  const int is_live = !strcmp(argv[1], "live");
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  long *tids = calloc((size_t)count, sizeof *tids);
  for (int i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, is_live ? wait_for_exit : end,
                       &tids[i]))
      return 1;
  for (int i = 0; i < count; i++)
    if (!strcmp(argv[1], "joined"))
      pthread_join(threads[i], NULL);
  // Threads that the kernel still has would be live ones.
  for (int i = 0; i < count && !is_live; i++)
    while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE) ||
           syscall(SYS_tgkill, getpid(), tids[i], 0) == 0)
      sched_yield();
  free(tids);
  free(threads);
  return 0;
}
