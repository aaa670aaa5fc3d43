// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: functions have their names and lines even if the path of the program,
// its library or its source file is unusual. The path may contain quotation
// marks, line breaks, colons or backslashes. The program does not wait for an
// answer that never comes.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %S/Inputs/odd_paths.sh %s %mprof_clang > out 2> err
// RUN: FileCheck %s < out
// RUN: not grep "without names" err
//
// CHECK: directory plain
// CHECK: #0 0x{{[0-9a-f]+}} in of_library {{/.*}}/plain/odd_paths.c:[[#LIB:]] (libodd.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in of_program {{/.*}}/plain/odd_paths.c:[[#PROGRAM:]]{{$}}
// CHECK: directory a\"b
// CHECK: #0 0x{{[0-9a-f]+}} in of_library {{/.*}}/a"b/odd_paths.c:[[#LIB]] (libodd.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in of_program {{/.*}}/a"b/odd_paths.c:[[#PROGRAM]]{{$}}
// CHECK: directory a\'b\"c
// CHECK: #0 0x{{[0-9a-f]+}} in of_library {{/.*}}/a'b"c/odd_paths.c:[[#LIB]] (libodd.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in of_program {{/.*}}/a'b"c/odd_paths.c:[[#PROGRAM]]{{$}}
// CHECK: directory $'a\nb'
// CHECK: #0 0x{{[0-9a-f]+}} in of_library {{/.*}}/a\012b/odd_paths.c:[[#LIB]] (libodd.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in of_program {{/.*}}/a\012b/odd_paths.c:[[#PROGRAM]]{{$}}
// CHECK: directory a\\012b
// CHECK: #0 0x{{[0-9a-f]+}} in of_library {{/.*}}/a\012b/odd_paths.c:[[#LIB]] (libodd.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in of_program {{/.*}}/a\012b/odd_paths.c:[[#PROGRAM]]{{$}}
// CHECK: directory a:b
// CHECK: #0 0x{{[0-9a-f]+}} in of_library {{/.*}}/a:b/odd_paths.c:[[#LIB]] (libodd.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in of_program {{/.*}}/a:b/odd_paths.c:[[#PROGRAM]]{{$}}
// CHECK: directory a:x86_64
// CHECK: #0 0x{{[0-9a-f]+}} in of_library {{/.*}}/a:x86_64/odd_paths.c:[[#LIB]] (libodd.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in of_program {{/.*}}/a:x86_64/odd_paths.c:[[#PROGRAM]]{{$}}

#include <stdlib.h>

#ifdef LIBRARY

void *of_library(size_t size) { return malloc(size); }

#else

void *of_library(size_t size);

static void *volatile sink;

__attribute__((noinline)) static void of_program(void) {
  sink = of_library(300000);
}

int main(void) {
  of_program();
  return 0;
}

#endif
