// Intent: a config file and a command line may both name the plugin, and each
// call is rewritten once. -fplugin alone provides the attributes and options
// but rewrites no calls.
// RUN: %clang_mprof -fplugin=%plugin -fpass-plugin=%plugin -mllvm -mprof-heap=true -O2 -S -emit-llvm -o - %s | FileCheck %s
// RUN: %clang -fplugin=%plugin -O2 -S -emit-llvm -o - %s | FileCheck %s --check-prefix=PLAIN --implicit-check-not=__mprof_
// CHECK-COUNT-1: call {{.*}}__mprof_malloc
// CHECK-NOT: call {{.*}}__mprof_malloc
// PLAIN: call {{.*}}@malloc(
__attribute__((mprof_ignore)) void g(void);
void *malloc(unsigned long);
void *f(void) { return malloc(8); }
