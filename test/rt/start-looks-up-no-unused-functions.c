// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: at the start of a C program, the dynamic linker does not look up the
// functions of libgc, jemalloc and libc++ that only their users call, nor the
// functions of sanitizers. MProf adds at most 100 names and 70 look-ups in all.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 %s -o plain
// RUN: %mprof_clang -fmprof -O2 %s -o app
// RUN: LD_DEBUG=symbols ./plain 2>&1 | sed -n 's/.*symbol=\([^;]*\);.*/\1/p' \
// RUN:   | LC_ALL=C sort -u >plain.txt
// RUN: LD_DEBUG=symbols ./app 2>&1 | sed -n 's/.*symbol=\([^;]*\);.*/\1/p' \
// RUN:   | LC_ALL=C sort -u >app.txt
// RUN: LC_ALL=C comm -13 plain.txt app.txt >more.txt
//
// The first function of each library tells whether the program has the library.
// RUN: FileCheck --input-file=more.txt %s
// CHECK-NOT: {{^}}GC_{{strdup|calloc|free|realloc|memalign|posix_memalign}}
// CHECK-NOT: {{^}}GC_malloc_
// CHECK: {{^}}GC_malloc{{$}}
// CHECK-NOT: {{^}}GC_malloc_
// CHECK: {{^}}_ZNSt3__119__shared_mutex_base8try_lockEv{{$}}
// CHECK-NEXT: {{^}}_ZNSt3__15mutex8try_lockEv{{$}}
// CHECK-NOT: {{^}}_ZNSt3__1
// CHECK-NOT: {{^}}{{__tsan_acquire|__msan_unpoison}}
// CHECK-NOT: {{^}}{{dallocx|rallocx|sdallocx}}
// CHECK: {{^}}mallocx{{$}}
// CHECK-NOT: {{^}}{{rallocx|real_clock_gettime|sdallocx}}
//
// RUN: test $(wc -l <more.txt) -le 100
//
// No function is looked up twice: each has one relocation, or several that
// follow each other.
// RUN: LD_DEBUG=statistics ./plain 2>&1 | sed -n \
// RUN:   '0,/number of relocations:/s/.*number of relocations: //p' >plain.n
// RUN: LD_DEBUG=statistics ./app 2>&1 | sed -n \
// RUN:   '0,/number of relocations:/s/.*number of relocations: //p' >app.n
// RUN: test $(cat app.n) -le $(( $(cat plain.n) + %if x86_64 %{70%} %else %{90%} ))

int main(void) { return 0; }
