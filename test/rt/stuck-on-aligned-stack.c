// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread is stuck if only its own stack has the address of the
// condition that it waits for. This holds even if the stack begins at a
// multiple of 64 MiB, as the heaps of malloc's arenas do.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

#include <sys/mman.h>

enum { STACK = 262144 };
#define ALIGNMENT ((uintptr_t)64 << 20)

static void *wait_at_own(void *arg) {
  struct gate *g = calloc(1, sizeof(*g));
  (void)arg;
  pthread_mutex_init(&g->mutex, NULL);
  pthread_cond_init(&g->opens, NULL);
  return wait_at_gate(g);
}

int main(void) {
  pthread_t t;
  pthread_attr_t a;
  char *room = mmap(NULL, 3 * ALIGNMENT, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  NEED(room != MAP_FAILED);
  char *stack = room + ALIGNMENT - (uintptr_t)room % ALIGNMENT;
  NEED(mprotect(stack, STACK, PROT_READ | PROT_WRITE) == 0);
  pthread_attr_init(&a);
  NEED(pthread_attr_setstack(&a, stack, STACK) == 0);
  NEED(pthread_create(&t, &a, wait_at_own, NULL) == 0);
  NEED(count_stuck() == 1);
  _exit(0);
}
