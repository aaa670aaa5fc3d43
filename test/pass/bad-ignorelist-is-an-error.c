// Intent: an ignorelist that cannot be read or parsed stops the compilation
// with an error that gives the file and the reason.
// RUN: rm -rf %t.dir && mkdir %t.dir && echo '[mprof' > %t.dir/bad.txt
// RUN: not %clang_mprof -c %s -o %t.o -mllvm -mprof-ignorelist=%t.dir/none.txt 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %clang_mprof -c %s -o %t.o -mllvm -mprof-ignorelist=%t.dir/bad.txt 2>&1 | FileCheck %s --check-prefix=BAD
// NONE: error: mprof: ignorelist: can't open file '{{.*}}none.txt': No such file
// BAD: error: mprof: ignorelist: {{.*}}malformed section header
int x;
