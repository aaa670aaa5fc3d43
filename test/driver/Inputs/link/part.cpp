// What a C++ program has more than program.c.
#include <string>

extern "C" void *volatile sink;

__attribute__((noinline)) void leak_cxx() {
  for (int i = 0; i < 50; i++)
    sink = new char[100];
}

// The C++ library allocates the strings' memory, and frees it.
__attribute__((noinline)) void strings() {
  for (int i = 0; i < 10; i++) {
    std::string s;
    s.reserve(7799); // and the terminator
  }
}

extern "C" void part_cxx() {
  leak_cxx();
  strings();
}
