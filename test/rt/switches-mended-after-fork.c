// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a fork may happen while another thread has made one of the two stores
// to a switch. The child finds the switch whole.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1} %t

#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

// The runtime's struct __mprof_switch, and the array of the program.
struct call {
  void *target, *function, *entry;
  uint32_t kind, is_on;
};
extern struct call begin[] __asm__("__start_mprof_switches")
    __attribute__((visibility("hidden")));
extern struct call end[] __asm__("__stop_mprof_switches")
    __attribute__((visibility("hidden")));
extern char lock_entry[] __asm__("__mprof_pthread_mutex_timedlock");

static volatile struct call *find(void) {
  for (struct call *c = begin; c != end; c++)
    if (c->entry == lock_entry)
      return c;
  CHECK(!"the function has a switch");
  return NULL;
}

int main(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const struct timespec soon = {0, 0};
  int status;
  CHECK_EQ(pthread_mutex_timedlock(&mutex, &soon), 0);
  CHECK(find()->target == lock_entry);
  CHECK_EQ(find()->is_on, 1);
  find()->is_on = 0; // as if the second store is still to come
  const pid_t child = fork();
  if (child == 0)
    _exit(find()->is_on != 1 || find()->target != lock_entry);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  return 0;
}
