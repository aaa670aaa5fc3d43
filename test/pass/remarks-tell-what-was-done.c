// Intent: -Rpass=mprof reports each rewritten call. -Rpass-missed=mprof reports
// each call that is not rewritten, with the reason.
// RUN: %clang_mprof -O2 -c -o %t.o %s -Rpass=mprof -Rpass-missed=mprof 2>&1 | FileCheck %s
#include <stdlib.h>

__attribute__((mprof_alloc(1))) void *get(size_t);
// CHECK-DAG: [[#@LINE+1]]:{{.*}}remark: get rewritten in f [-Rpass=mprof]
void *f(size_t n) { return get(n); }
// CHECK-DAG: [[#@LINE+1]]:{{.*}}remark: malloc rewritten in g [-Rpass=mprof]
void *g(size_t n) { return malloc(n); }
// CHECK-DAG: [[#@LINE+1]]:{{.*}}remark: malloc not rewritten: the calling function has the attribute mprof_ignore or is on the ignorelist [-Rpass-missed=mprof]
__attribute__((mprof_ignore)) void *h(size_t n) { return malloc(n); }
// CHECK-DAG: [[#@LINE+1]]:{{.*}}remark: malloc not rewritten: the call is inside an allocator, and MProf counts the calls of the allocator instead
__attribute__((mprof_alloc(1))) void *i(size_t n) { return malloc(n); }
