// The part of the C++ program that program.c lacks.
#include <string>

extern "C" void *volatile sink;

__attribute__((noinline)) void leak_cxx() {
  for (int i = 0; i < 50; i++)
    sink = new char[100];
}

// The C++ library allocates and frees the memory of the strings.
__attribute__((noinline)) void strings() {
  for (int i = 0; i < 10; i++) {
    std::string s;
    s.reserve(7799); // plus the terminator
  }
}

extern "C" void part_cxx() {
  leak_cxx();
  strings();
}
