// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A service of utils/fleet.sh. It allocates and frees blocks, and two threads
// contend for a lock, until a line arrives at the standard input. Then it
// prints what it has done, "BLOCKS BYTES CONTENTIONS", and waits for the end of
// the input.

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEPT = 256, BLOCKS = 10, PAUSE_US = 20000, TURNS = 5 };

static void *kept[KEPT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long blocks, bytes, contentions;

__attribute__((noinline)) static void *serve(size_t size) {
  return malloc(size);
}

static void *wait_for_lock(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

// Holds the lock until another thread waits for it.
__attribute__((noinline)) static void contend(void) {
  pthread_t t;
  pthread_mutex_lock(&lock);
  if (pthread_create(&t, NULL, wait_for_lock, NULL) != 0)
    abort();
  // glibc sets the word to 2 when a thread begins to wait.
  while (__atomic_load_n(&lock.__data.__lock, __ATOMIC_RELAXED) != 2)
    usleep(100);
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  contentions++;
}

int main(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  for (long turn = 0; poll(&input, 1, 0) == 0; turn++) {
    for (int i = 0; i < BLOCKS; i++) {
      const size_t size = 100 + (size_t)(blocks % 50) * 10;
      free(kept[blocks % KEPT]);
      kept[blocks % KEPT] = serve(size);
      blocks++;
      bytes += (long)size;
    }
    if (turn % TURNS == 0)
      contend();
    usleep(PAUSE_US);
  }
  printf("%ld %ld %ld\n", blocks, bytes, contentions);
  fflush(stdout);
  while (getchar() != EOF)
    ;
  return 0;
}
