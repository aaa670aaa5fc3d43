// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a fork may happen while another thread has made one of the two stores
// to a switch. The child finds the switch whole.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1} %t

#include "switches.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

extern char lock_entry[] __asm__("__mprof_pthread_mutex_timedlock");

int main(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const struct timespec soon = {0, 0};
  int status;
  CHECK_EQ(pthread_mutex_timedlock(&mutex, &soon), 0);
  CHECK(find(lock_entry)->target == lock_entry);
  CHECK_EQ(find(lock_entry)->is_on, 1);
  find(lock_entry)->is_on = 0; // as if the second store is still to come
  const pid_t child = fork();
  if (child == 0)
    _exit(find(lock_entry)->is_on != 1 ||
          find(lock_entry)->target != lock_entry);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  return 0;
}
