// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program replaces only some forms of operator new and delete, such
// as the array forms or the aligned forms. The replaced operator delete never
// gets a block that another form of operator new has allocated, whether or not
// the block is sampled.
//
// RUN: %mprof_clangxx -fmprof -O1 -std=c++17 -DARRAY %s -I%src/test/Inputs -o %t
// RUN: %run_quiet{seed=3} %t
// RUN: %mprof_clangxx -fmprof -O1 -std=c++17 -DALIGNED %s -I%src/test/Inputs \
// RUN:   -o %t
// RUN: %run_quiet{seed=3} %t

#include "records.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

#ifdef ARRAY
// Blocks have a header, so that a foreign block is noticed.
void *operator new[](std::size_t n) {
  auto *p = static_cast<char *>(std::malloc(n + 16));
  std::memcpy(p, "myarray!", 8);
  return p + 16;
}
void operator delete[](void *p) noexcept {
  char *q = static_cast<char *>(p) - 16;
  if (std::memcmp(q, "myarray!", 8) != 0)
    std::abort();
  std::free(q);
}
void operator delete[](void *p, std::size_t) noexcept { operator delete[](p); }
struct Thing {
  char c[600];
};
static Thing *make() { return reinterpret_cast<Thing *>(new char[600]); }
static void drop(Thing *t) { delete[] reinterpret_cast<char *>(t); }
#else
// Each block has pages of its own.
void *operator new[](std::size_t n, std::align_val_t) {
  return mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
}
void operator delete[](void *p, std::align_val_t) noexcept { munmap(p, 4096); }
void operator delete[](void *p, std::size_t, std::align_val_t) noexcept {
  munmap(p, 4096);
}
struct alignas(64) Thing {
  char c[1024];
};
static Thing *make() { return new Thing[1]; }
static void drop(Thing *t) { delete[] t; }
#endif

static Thing *volatile sink;

int main() {
  for (int i = 0; i < 20000; i++) {
    sink = make();
    std::memset(sink, 1, 600);
    drop(sink);
    sink = reinterpret_cast<Thing *>(new char);
    delete reinterpret_cast<char *>(sink);
  }
  return 0;
}
