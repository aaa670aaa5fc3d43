// Leaks 5000 bytes in leak_cxx.
#include <cstdio>
#include <mprof/mprof.h>

char *volatile sink;

__attribute__((noinline)) void leak_cxx() {
  for (int i = 0; i < 50; i++)
    sink = new char[100];
}

int main() {
  leak_cxx();
  std::puts("done");
  return 0;
}
