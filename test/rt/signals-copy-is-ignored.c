// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that gets the same signal several times at once, as from
// timeout, writes complete files before the signal ends it. mprof run passes
// each of these signals on, too.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app -pthread
// RUN: %run{heap_rate=1:dump_on_signal=TERM:log_path=p:report=0} \
// RUN:   timeout 600 %python %S/Inputs/end_twice.py 0 ./app
// RUN: ls | not grep tmp && %mprof info p.*.heap.pb.gz
//
// timeout sends the signal to mprof and to the process group. A busy machine
// may need longer until the program is ready.
// RUN: long_enough() { for t in 0.4 10 100; do rm -rf $1; eval "$2" > said; \
// RUN:   ! grep -q ready said || return 0; done; }
// RUN: for i in 1 2; do \
// RUN:   long_enough run$i '%mprof run --output=run$i --quiet timeout $t ./app'; \
// RUN:   long_enough under$i 'timeout $t %mprof run --output=under$i --quiet ./app'; \
// RUN:   ls run$i under$i | not grep tmp && ls run$i/*.heap.pb.gz \
// RUN:     under$i/*.heap.pb.gz || exit 1; done

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile kept[10000];

static void *wait_for_end(void *unused) {
  for (;;)
    pause();
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 10000; i++)
    kept[i] = malloc(100);
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, wait_for_end, NULL);
  puts("ready");
  fflush(stdout);
  wait_for_end(NULL);
}
