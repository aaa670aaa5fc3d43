// Intent: -fdebug-info-for-profiling, which the driver passes, does not make the
// inliner defer calls that it inlines without MProf. A program that is built for
// a profile by samples, and a program whose user asks for deferral, defer them
// as before.
// RUN: %clang -O2 -S -Rpass-missed=inline %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=INLINED
// RUN: %clang_mprof -fdebug-info-for-profiling -O2 -S -Rpass-missed=inline %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=INLINED
// RUN: %clang_mprof -fdebug-info-for-profiling -fpseudo-probe-for-profiling -O2 -S -Rpass-missed=inline %s -o /dev/null 2>&1 | FileCheck %s
// RUN: %clang_mprof -fdebug-info-for-profiling -mllvm -enable-npm-pgo-inline-deferral=true -O2 -S -Rpass-missed=inline %s -o /dev/null 2>&1 | FileCheck %s
// INLINED-NOT: in other contexts
// INLINED: 'middle' not inlined into 'outer' because too costly
// INLINED-NOT: in other contexts
// CHECK: Cost of inlining '{{.*}}inner{{.*}}' increases the cost of inlining '{{.*}}middle{{.*}}' in other contexts

int g(int);

static int inner(int x) {
  return g(x) + g(x + 1) + g(x + 2) + g(x + 3) + g(x + 4) + g(x + 5);
}

// With inner in it, middle is too large to be inlined into outer.
static int middle(int x) { return inner(x) + g(x + 6) + g(x + 7) + g(x + 8); }

int (*const pointers[])(int) = {inner, middle};
int outer(int x) { return middle(x); }
