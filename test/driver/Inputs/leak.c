// Leaks 3000 bytes in leak_c, and allocates and frees 4000 in borrow.
#include <mprof/mprof.h>
#include <stdio.h>
#include <stdlib.h>

void *volatile sink;

__attribute__((noinline)) void leak_c(void) {
  for (int i = 0; i < 30; i++)
    sink = malloc(100);
}

__attribute__((noinline)) void borrow(void) {
  for (int i = 0; i < 40; i++) {
    sink = malloc(100);
    free(sink);
  }
}

int main(void) {
  leak_c();
  borrow();
  mprof_next_cycle();
  mprof_cycle_flush();
#ifdef __MPROF__
  puts("with mprof");
#else
  puts("without mprof");
#endif
  return 0;
}
