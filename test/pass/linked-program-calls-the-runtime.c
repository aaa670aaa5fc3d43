// Intent: rewritten code links and runs with the runtime in executables with
// and without PIE, in -fPIC shared libraries, with LTO and with --gc-sections.
// If code without -fPIC is linked with the shared runtime, the linker's error
// names a variable of the runtime.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fPIC -c %S/Inputs/stub_runtime.c -o stub.o && %clang -shared stub.o -o libstub.so
// RUN: %clang_mprof -O2 -fPIE -pie %s stub.o -o pie && %emu ./pie | FileCheck %s
// RUN: %clang_mprof -O2 -fno-pic -no-pie %s stub.o -o exec && %emu ./exec | FileCheck %s
// RUN: %clang_mprof -O0 -fPIC -pie %s ./libstub.so -o shared && %emu ./shared | FileCheck %s
// RUN: not %clang_mprof -O0 -fPIE -pie %s ./libstub.so -o wrong 2> wrong.txt && grep -q -e __mprof_heap_countdown -e __mprof_main_frame wrong.txt
// RUN: %clang_mprof -O2 -fPIC -shared %s -o libself.so && %clang -Wl,--no-as-needed ./libself.so stub.o -o self && %emu ./self | FileCheck %s
// RUN: %clang_mprof -O2 -flto=thin -fuse-ld=lld -ffunction-sections -Wl,--gc-sections %s stub.o -o thin && %emu ./thin | FileCheck %s
// RUN: %clang_mprof -O2 -flto -fuse-ld=lld %s stub.o -o full && %emu ./full | FileCheck %s
// CHECK: frame 1
// CHECK-NEXT: malloc 60, left -20
// CHECK-NEXT: free 0
// CHECK-NEXT: done
#include <stdio.h>
#include <stdlib.h>

void *stub_main_frame(void);

int main(void) {
  printf("frame %d\n", stub_main_frame() != NULL);
  char *volatile p = malloc(60);
  char *volatile q = malloc(60);
  free(q);
  free(p);
  p = NULL;
  free(p);
  puts("done");
  return 0;
}
