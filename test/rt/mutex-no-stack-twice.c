// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each stack has one sample in a file, in however many threads the
// stack occurs. It also has one record in the results of mprof_block_profile
// and mprof_mutex_profile. This holds for both profiles, in protobuf and in
// text.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} ./app
// RUN: for kind in block mutex; do \
// RUN:   %mprof_read $kind.pb.gz | grep '^sample: ' | sed 's/.* : //' > $kind.stacks && \
// RUN:   grep '^[0-9][0-9]* [0-9][0-9]* @' $kind.txt | sed 's/.* @ //' > $kind.text-stacks && \
// RUN:   test -s $kind.stacks && test -s $kind.text-stacks && \
// RUN:   test -z "$(sort $kind.stacks | uniq -d)" && \
// RUN:   test -z "$(sort $kind.text-stacks | uniq -d)" || exit 1; done

#include "waited.h"

enum { WORKERS = 2, ROUNDS = 100 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void section(void) {
  pthread_mutex_lock(&mutex);
  usleep(1000);
  pthread_mutex_unlock(&mutex);
}

static void work(void *arg) {
  (void)arg;
  for (int i = 0; i < ROUNDS; i++) {
    section();
    section();
  }
}

static void check(profile *get) {
  static struct mprof_block_record r[1000];
  size_t n;
  NEED(get(r, 1000, &n) == 0 && n > 0);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++)
      NEED(memcmp(r[i].stack0, r[k].stack0, sizeof(r[i].stack0)) != 0);
}

int main(void) {
  struct thread t[WORKERS];
  for (int i = 0; i < WORKERS; i++)
    start(&t[i], work, NULL);
  for (int i = 0; i < WORKERS; i++)
    finish(&t[i]);
  check(mprof_block_profile);
  check(mprof_mutex_profile);
  NEED(mprof_write_profile("block", "block.pb.gz", 0) == 0);
  NEED(mprof_write_profile("block", "block.txt", 1) == 0);
  NEED(mprof_write_profile("mutex", "mutex.pb.gz", 0) == 0);
  NEED(mprof_write_profile("mutex", "mutex.txt", 1) == 0);
  return 0;
}
