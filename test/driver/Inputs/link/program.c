// A program whose allocations are all known; see check_links.py.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

void *volatile sink;
void part_cxx(void) __attribute__((weak)); // NULL in a C program

NOINLINE void leak_c(void) {
  for (int i = 0; i < 30; i++)
    sink = malloc(100);
}

NOINLINE void borrow(void) {
  for (int i = 0; i < 40; i++) {
    sink = malloc(100);
    free(sink);
  }
}

// Functions with equal code, which linkers may fold. LTO must not see this.
NOINLINE void same_a(void) {
  for (int i = 0; i < 5; i++)
    sink = calloc(2, 32);
}

NOINLINE void same_b(void) {
  for (int i = 0; i < 5; i++)
    sink = calloc(2, 32);
}

// Unused: --gc-sections removes it.
NOINLINE void unused(void) { sink = malloc(1); }

static NOINLINE void *worker(void *arg) {
  for (int i = 0; i < 7; i++)
    sink = malloc(32);
  return arg;
}

NOINLINE void spawn(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
}

// libc allocates a FILE and frees it.
NOINLINE void open_c(void) {
  for (int i = 0; i < 6; i++) {
    FILE *f = fopen("/dev/null", "r");
    if (f)
      fclose(f);
  }
}

int main(void) {
  leak_c();
  borrow();
  same_a();
  same_b();
  spawn();
  open_c();
  if (part_cxx)
    part_cxx();
  return 0;
}
