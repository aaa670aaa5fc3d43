// A library, compiled twice with -DNAME=a and b; see check_links.py.
#include <stdlib.h>

#define JOIN_(A, B) A##B
#define JOIN(A, B) JOIN_(A, B)

static void *volatile sink;

__attribute__((noinline)) void JOIN(leak_, NAME)(void) {
  for (int i = 0; i < 20; i++)
    sink = malloc(100);
}

// No tail call: it would remove the function from the stack.
__attribute__((noinline)) void *JOIN(make_, NAME)(void) {
  sink = malloc(64);
  return sink;
}

__attribute__((noinline)) void JOIN(drop_, NAME)(void *p) { free(p); }
