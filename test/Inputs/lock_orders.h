// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two mutexes that two functions take in different orders, one after the other,
// so that there is no deadlock.

#ifndef MPROF_TEST_INPUTS_LOCK_ORDERS_H
#define MPROF_TEST_INPUTS_LOCK_ORDERS_H

#include <pthread.h>

pthread_mutex_t from = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t to = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void deposit(void) {
  pthread_mutex_lock(&from);
  pthread_mutex_lock(&to);
  pthread_mutex_unlock(&to);
  pthread_mutex_unlock(&from);
}

__attribute__((noinline)) static void withdraw(void) {
  pthread_mutex_lock(&to);
  pthread_mutex_lock(&from);
  pthread_mutex_unlock(&from);
  pthread_mutex_unlock(&to);
}

#endif // MPROF_TEST_INPUTS_LOCK_ORDERS_H
