// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with heap_rate=1 the heapx profile has exactly the temporary blocks
// of operator new, of containers that grow, and of temporary objects. A block
// is temporary if its thread frees it before the thread allocates again.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: export MPROF_OPTIONS=heap_rate=1:heapx=1:log_path=p:report=0
// RUN: for o in "-O2 -fno-mprof-intercept" "-O2 -fmprof-intercept"; do \
// RUN:   %mprof_clangxx -fmprof -std=c++20 $o %s -o app && ./app > truth && \
// RUN:   %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth && \
// RUN:   rm p.*.heap*.pb.gz || exit 1; done

#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <vector>

enum { N = 300 };
template <int Size> struct object {
  char bytes[Size];
};
static void *volatile sink;
template <class T> static T *seen(T *p) {
  sink = p;
  return p;
}

static void row(int size, int temporary) {
  printf("%d temporary_objects=%d temporary_space=%d\n", size, temporary,
         temporary * size);
}

int main() {
  for (int i = 0; i < N; i++) {
    delete seen(new object<101>);
    delete[] seen(new char[102]);
    delete seen(new (std::nothrow) object<103>);
    // Members are destroyed before their owner, but both after the last
    // allocation.
    auto outer = std::make_unique<object<104>>();
    auto inner = std::make_unique<object<105>>();
    seen(outer.get()), seen(inner.get());
    // A temporary string for a comparison.
    if (*seen(std::string(198, 'x').data()) == *seen(outer.get()->bytes))
      outer->bytes[0]++;
  }
  row(101, N), row(102, N), row(103, N), row(104, 0), row(105, 0);
  row(199, N);
  // A vector that grows frees each array after it has allocated the next.
  for (int i = 0; i < N; i++) {
    std::vector<object<107>> grows;
    for (int k = 0; k < 8; k++) {
      grows.push_back({});
      seen(grows.data());
    }
  }
  row(107, 0), row(2 * 107, 0), row(4 * 107, 0), row(8 * 107, N);
  return 0;
}
