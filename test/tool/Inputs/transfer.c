// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two threads that wait for each other, and a main thread that joins them.

#include <pthread.h>
#include <unistd.h>

pthread_mutex_t from = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t to = PTHREAD_MUTEX_INITIALIZER;

void *deposit(void *unused) {
  pthread_mutex_lock(&from);
  usleep(100000);
  pthread_mutex_lock(&to);
  return unused;
}

void *withdraw(void *unused) {
  pthread_mutex_lock(&to);
  usleep(100000);
  pthread_mutex_lock(&from);
  return unused;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, deposit, NULL);
  pthread_create(&two, NULL, withdraw, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
}
