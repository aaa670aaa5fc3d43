// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes three deadlocks. There are three pairs of accounts, and for each pair
// two threads that transfer money in opposite directions. A transfer locks the
// account that pays, then the account that receives, so the two threads can
// wait for each other for ever. Here they always do: each waits at a barrier
// until the other has its first lock, too. The main thread goes on and ends the
// program.
//
// usage: deadlock SECONDS

#define _GNU_SOURCE
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAIRS = 3 };

struct account {
  const char *owner;
  long balance; // guarded by lock
  pthread_mutex_t lock;
};

static struct account accounts[2 * PAIRS] = {
    {"alice", 100, PTHREAD_MUTEX_INITIALIZER},
    {"bob", 100, PTHREAD_MUTEX_INITIALIZER},
    {"carol", 100, PTHREAD_MUTEX_INITIALIZER},
    {"dave", 100, PTHREAD_MUTEX_INITIALIZER},
    {"erin", 100, PTHREAD_MUTEX_INITIALIZER},
    {"frank", 100, PTHREAD_MUTEX_INITIALIZER},
};

struct order {
  struct account *from, *to;
  pthread_barrier_t *both_have_one;
  pthread_t thread;
};

static void transfer(const struct order *o, long amount) {
  pthread_mutex_lock(&o->from->lock);
  pthread_barrier_wait(o->both_have_one);
  pthread_mutex_lock(&o->to->lock);
  o->from->balance -= amount;
  o->to->balance += amount;
  pthread_mutex_unlock(&o->to->lock);
  pthread_mutex_unlock(&o->from->lock);
}

static void *clerk(void *arg) {
  transfer(arg, 10);
  return NULL;
}

static void give(struct order *o, struct account *from, struct account *to,
                 pthread_barrier_t *both_have_one) {
  char name[16];
  *o = (struct order){from, to, both_have_one, 0};
  if (pthread_create(&o->thread, NULL, clerk, o) != 0)
    exit(1);
  snprintf(name, sizeof(name), "%s-%s", from->owner, to->owner);
  pthread_setname_np(o->thread, name);
}

int main(int argc, char **argv) {
  static struct order orders[2 * PAIRS];
  static pthread_barrier_t barriers[PAIRS];
  const int seconds = argc == 2 ? atoi(argv[1]) : 0;
  if (seconds < 1) {
    fprintf(stderr, "usage: deadlock SECONDS\n");
    return 2;
  }
  for (int i = 0; i < 2 * PAIRS; i++)
    mprof_name_lock(&accounts[i].lock, accounts[i].owner);
  for (int i = 0; i < PAIRS; i++) {
    struct account *a = &accounts[2 * i], *b = a + 1;
    pthread_barrier_init(&barriers[i], NULL, 2);
    give(&orders[2 * i], a, b, &barriers[i]);
    give(&orders[2 * i + 1], b, a, &barriers[i]);
  }
  sleep((unsigned)seconds);
  return 0; // ends the threads, too
}
