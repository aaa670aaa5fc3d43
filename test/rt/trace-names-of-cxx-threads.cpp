// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a trace, a std::thread has the name of the function, member
// function or lambda that it runs. If this function is unknown, the thread has
// the type of the callable object as its name. The start stack has only this
// one frame, so Go's view does not put all threads into one group. The same
// holds for threads that began before the trace.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for O in 0 2; do %mprof_clangxx -fmprof -g1 -O$O %s -o app && \
// RUN:   %run_quiet ./app trace$O && %trace_check -q trace$O && \
// RUN:   %trace_json -o json$O trace$O && grep '"thread_name"' json$O \
// RUN:   | FileCheck %s || exit 1; done
// RUN: %if go-1.23 %{ %go tool trace -d=parsed trace2 | \
// RUN:   grep -A 4 'GoID=3 NotExist' | FileCheck %s --check-prefix=GO %}
// RUN: %if libcxx %{ %mprof_clangxx -fmprof -stdlib=libc++ -g1 -O1 %s -o app %}
// RUN: %if libcxx %{ %run_quiet ./app libcxx && %trace_check -q libcxx && \
// RUN:   %trace_json -o json libcxx %}
// RUN: %if libcxx %{ grep '"thread_name"' json | \
// RUN:   FileCheck %s --check-prefix=LIBCXX %}
//
// CHECK-DAG: "name":"run_nothing G
// CHECK-DAG: "name":"run_pointer G
// CHECK-DAG: "name":"run_sizes G
// CHECK-DAG: "name":"run_same_type G
// CHECK-DAG: "name":"run_reference G
// CHECK-DAG: "name":"worker::run G
// CHECK-DAG: "name":"main::$_0 G
// CHECK-DAG: "name":"functor G
// CHECK-DAG: "name":"has_function G
// CHECK-DAG: "name":"void (*)(std::{{[^"]*}}string{{[^"]*}} G
// CHECK-DAG: "name":"void (derived::*)() G
// CHECK-DAG: "name":"before_the_trace G
// CHECK-DAG: "name":"run_number G
//
// GO: TransitionStack=
// GO-NEXT: run_nothing() @
// GO-NEXT: .cpp:
// GO-NEXT: {{^$}}
//
// LIBCXX-DAG: "name":"run_nothing G
// LIBCXX-DAG: "name":"run_pointer G
// LIBCXX-DAG: "name":"run_sizes G
// LIBCXX-DAG: "name":"run_same_type G
// LIBCXX-DAG: "name":"run_reference G
// LIBCXX-DAG: "name":"worker::run G
// LIBCXX-DAG: "name":"main::$_0 G
// LIBCXX-DAG: "name":"functor G
// LIBCXX-DAG: "name":"run_string G
// LIBCXX-DAG: "name":"void (derived::*)() G
// LIBCXX-DAG: "name":"has_function G
// LIBCXX-DAG: "name":"before_the_trace G
// LIBCXX-DAG: "name":"run_number G

#include <mprof/mprof.h>

#include <atomic>
#include <functional>
#include <memory>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct worker {
  int n = 1;
  void run(int m) { usleep(1000 * (n + m)); }
};

struct base {
  virtual void go() = 0;
};

struct derived : base {
  void go() override { usleep(1000); }
};

struct functor {
  int n;
  void operator()() const { usleep(1000); }
};

struct has_function {
  void (*f)();
  void operator()() const { f(); }
};

static void run_nothing() { usleep(1000); }
static void run_pointer(void *p) { usleep(p ? 1000 : 0); }
static void run_sizes(char a, double b, short c, const char *d, bool e) {
  usleep(a + c + e + (b > 0) + *d);
}
static void run_same_type(void (*)(), void (*f)(), worker *, worker *) { f(); }
static void run_reference(worker &w, std::shared_ptr<worker> p) { w.run(p->n); }
static void *run_number(void *) { return nullptr; }
static void run_string(std::string s) { usleep(s.size()); }

static std::atomic<bool> has_begun, may_end;
static void before_the_trace(int) {
  has_begun = true;
  while (!may_end)
    usleep(1000);
}

int main(int, char **argv) {
  worker w;
  derived d;
  std::thread early(before_the_trace, 1);
  while (!has_begun)
    usleep(1000);
  if (mprof_trace_start(argv[1]) != 0)
    return 1;
  void (*pointer)(void *) = run_pointer;
  std::vector<std::thread> threads;
  threads.emplace_back(run_nothing);
  threads.emplace_back(pointer, &w);
  threads.emplace_back(run_sizes, 'a', 1.5, short(2), "x", true);
  threads.emplace_back(run_same_type, run_nothing, run_nothing, &w, &w);
  threads.emplace_back(run_reference, std::ref(w), std::make_shared<worker>());
  threads.emplace_back(&worker::run, &w, 3);
  threads.emplace_back([&] { w.run(1); });
  threads.emplace_back(functor{1});
  threads.emplace_back(has_function{run_nothing});
  threads.emplace_back(run_string, std::string("text"));
  threads.emplace_back(&derived::go, &d);
  for (std::thread &t : threads)
    t.join();
  // An argument that is no address is not read.
  pthread_t number;
  pthread_create(&number, nullptr, run_number, reinterpret_cast<void *>(24));
  pthread_join(number, nullptr);
  may_end = true;
  early.join();
  return mprof_trace_stop();
}
