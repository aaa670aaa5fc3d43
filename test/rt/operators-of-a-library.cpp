// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a linked library replaces operator new and delete, the whole
// process uses the replacements. The program frees blocks of the library by the
// library's operator delete, and each block is counted once.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for how in "" -Wl,-Bsymbolic; do \
// RUN:   %clangxx -std=c++17 -O1 -shared -fPIC $how -DLIBRARY %s -o lib.so && \
// RUN:   %mprof_clangxx -fmprof -std=c++17 -O1 -I%src/test/Inputs %s ./lib.so -o app \
// RUN:     || exit 1; \
// RUN:   for rate in 1 65536; do \
// RUN:     %run_quiet{heap_rate=$rate:seed=2} ./app $rate || exit 1; done; done

#include <cstdlib>
#include <new>

struct Thing {
  char bytes[936];
};
Thing *make();

#ifdef LIBRARY

enum { HEAD = 64 };
void *operator new(size_t n) {
  char *p = (char *)malloc(n + HEAD);
  if (!p)
    throw std::bad_alloc();
  return p + HEAD;
}
void operator delete(void *p) noexcept {
  if (p)
    free((char *)p - HEAD);
}
void operator delete(void *p, size_t) noexcept { operator delete(p); }
Thing *make() { return new Thing; }

#else

#include "records.h"

static Thing *volatile own;

int main(int, char **argv) {
  for (int i = 0; i < 3000; i++) {
    delete make();
    own = new Thing;
    delete own;
  }
  if (atoi(argv[1]) == 1) {
    EXPECT(936, 1, 3000, 3000);  // by the program's site
    EXPECT(1000, 1, 3000, 3000); // by malloc in the library
  }
  return 0;
}
#endif
