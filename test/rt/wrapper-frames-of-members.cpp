// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: neither the report nor pprof shows wrappers that are members or
// operators, have an ABI tag, or are templates with a result type. This holds
// for inlined calls and other calls, with -g1 and with -g.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for g in -g1 -g; do for o in -O0 -O2; do \
// RUN:   %mprof_clangxx -fmprof $g $o %s -o app && \
// RUN:   %run{heap_rate=1:log_path=x} ./app && \
// RUN:   %go tool pprof -traces -sample_index=alloc_objects app x.*.heap.pb.gz \
// RUN:     > traces && \
// RUN:   FileCheck %s < traces && FileCheck %s --check-prefix=REPORT < x.*.txt && \
// RUN:   rm x.* || exit 1; done; done
// CHECK-NOT: ns::
// CHECK: {{[0-9]}}   user
// CHECK-NOT: {{ns::|get|make|take|operator|call|text}}
// REPORT: Stacks with the most bytes in use
// REPORT-NOT: {{in .*(ns::|get|make|take|operator|call|text)}}
// REPORT: SUMMARY: MProf: 8800 bytes in 8 blocks in use

#include <cstdlib>
#include <utility>

static void *volatile sink;

namespace ns {

struct [[gnu::abi_tag("x")]] block {};

template <class T> struct pool {
  [[mprof::wrapper]] void *get(size_t n) { return malloc(n); }
  template <class U> [[mprof::wrapper, gnu::noinline]] U *make(size_t n) {
    return static_cast<U *>(malloc(n));
  }
  template <class U> [[mprof::wrapper]] U *make_inline(size_t n) {
    return static_cast<U *>(malloc(n));
  }
};

struct plain {
  [[mprof::wrapper]] void *take(size_t n) { return malloc(n); }
  [[mprof::wrapper]] void *operator()(size_t n) { return malloc(n); }
};

[[mprof::wrapper, gnu::noinline]] block *text(size_t n) {
  return static_cast<block *>(malloc(n));
}

template <class F>
[[mprof::wrapper, gnu::noinline]] auto call(F f, size_t n) -> decltype(f(n)) {
  return static_cast<decltype(f(n))>(malloc(n));
}

} // namespace ns

extern "C" [[gnu::noinline]] void user() {
  ns::pool<int> p;
  ns::plain q;
  sink = p.get(800);
  sink = p.make<long>(900);
  sink = p.make<std::pair<int, int (*)(long)>>(1000);
  sink = p.make_inline<long *>(1100);
  sink = q.take(1200);
  sink = q(1300);
  sink = ns::text(1400);
  sink = ns::call(q, 1100);
}

int main() {
  user();
  return 0;
}
