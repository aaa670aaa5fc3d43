// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program that was built without MProf, each form of operator new
// and delete is counted once, at its caller, also if an allocator's library has
// operators of its own. If there is no memory, operator new calls the
// new_handler and throws std::bad_alloc, or returns a null pointer.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -O2 -g1 -std=c++17 -fno-builtin %s -o app
// RUN: %run{heap_rate=1:log_path=x:report_top=30} LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// RUN: %run{heap_rate=1:log_path=y:report_top=30} \
// RUN:   LD_PRELOAD="%preload libtcmalloc_minimal.so.4" ./app
// RUN: cat y.*.txt | FileCheck %s
//
// Sampled blocks are freed, too.
// RUN: %run{heap_rate=100000:log_path=z} LD_PRELOAD=%preload ./app many
// RUN: cat z.*.txt | FileCheck --check-prefix=MANY %s
//
// CHECK: Stacks with the most bytes allocated
// CHECK-DAG: (8,000 bytes) in 1 block,{{.*[[:space:]]+.*}}#0 {{.*}}in form0 {{.*}}operators.cpp
// CHECK-DAG: (8,001 bytes) in 1 block,{{.*[[:space:]]+.*}}#0 {{.*}}in form1 {{.*}}operators.cpp
// CHECK-DAG: (8,002 bytes) in 1 block,{{.*[[:space:]]+.*}}#0 {{.*}}in form2 {{.*}}operators.cpp
// CHECK-DAG: (8,003 bytes) in 1 block,{{.*[[:space:]]+.*}}#0 {{.*}}in form3 {{.*}}operators.cpp
// CHECK-DAG: (8,004 bytes) in 1 block,{{.*[[:space:]]+.*}}#0 {{.*}}in form4 {{.*}}operators.cpp
// CHECK-DAG: (8,005 bytes) in 1 block,{{.*[[:space:]]+.*}}#0 {{.*}}in form5 {{.*}}operators.cpp
// CHECK-DAG: (8,006 bytes) in 1 block,{{.*[[:space:]]+.*}}#0 {{.*}}in form6 {{.*}}operators.cpp
// CHECK-DAG: (8,007 bytes) in 1 block,{{.*[[:space:]]+.*}}#0 {{.*}}in form7 {{.*}}operators.cpp
// CHECK-NOT: (8,00
// CHECK: Size of the profiler's tables
// Frees of all forms are counted: nothing that a form has allocated is in use.
// RUN: %mprof top --no-pager --sample=inuse_space x.*.pb.gz >used
// RUN: not grep form used
// RUN: %mprof top --no-pager --sample=inuse_space y.*.pb.gz >used
// RUN: not grep form used
// MANY: Stacks with the most bytes allocated
// MANY: in form0 {{.*}}operators.cpp

#include "../Inputs/check.h"

#include <new>
#include <stdint.h>

static int handled;
static void give_up() {
  if (++handled == 3)
    std::set_new_handler(nullptr);
}

static const size_t base = 8000;
static const std::align_val_t align{256};
#define FORM(N, Expression)                                                    \
  __attribute__((noinline)) static void *form##N() {                           \
    const size_t size = base + N;                                              \
    void *volatile p = Expression;                                             \
    return p;                                                                  \
  }
FORM(0, ::operator new(size))
FORM(1, ::operator new(size, std::nothrow))
FORM(2, ::operator new(size, align))
FORM(3, ::operator new(size, align, std::nothrow))
FORM(4, ::operator new[](size))
FORM(5, ::operator new[](size, std::nothrow))
FORM(6, ::operator new[](size, align))
FORM(7, ::operator new[](size, align, std::nothrow))

static void use_all() {
  ::operator delete(form0());
  ::operator delete(form1(), std::nothrow);
  void *p = form2();
  CHECK_EQ((uintptr_t)p % 256, 0);
  ::operator delete(p, align);
  p = form3();
  CHECK_EQ((uintptr_t)p % 256, 0);
  ::operator delete(p, base + 3, align);
  ::operator delete[](form4(), base + 4);
  ::operator delete[](form5(), std::nothrow);
  ::operator delete[](form6(), align);
  ::operator delete[](form7(), align, std::nothrow);
  ::operator delete(nullptr);
}

template <class F> static void check_throws(F allocate) {
  handled = 0;
  std::set_new_handler(give_up);
  bool is_thrown = false;
  try {
    allocate();
  } catch (const std::bad_alloc &) {
    is_thrown = true;
  }
  CHECK(is_thrown);
  CHECK_EQ(handled, 3);
}

int main(int argc, char **) {
  if (argc > 1) {
    for (int i = 0; i < 10000; i++)
      ::operator delete(form0());
    return 0;
  }
  use_all();
  volatile size_t too_large = SIZE_MAX / 2 + 1000;
  check_throws([&] { ::operator new(too_large); });
  check_throws([&] { ::operator new[](too_large); });
  check_throws([&] { ::operator new(too_large, align); });
  handled = 0;
  std::set_new_handler(give_up);
  CHECK(::operator new(too_large, std::nothrow) == nullptr);
  CHECK_EQ(handled, 3);
  CHECK(::operator new[](too_large, align, std::nothrow) == nullptr);
  return 0;
}
