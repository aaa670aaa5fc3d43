// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: functions of Rust, in both manglings, of D and of Fortran have the
// names of their source text. Functions of Rust's library have no row of their
// own, also in a program without debug information. A function of the program
// that implements a trait of the library has one, and so has a C++ function in
// a namespace of the same name.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run{heap_rate=1:log_path=x} ./app
// RUN: %mprof top -n 0 x.*.heap.pb.gz >top.txt
// RUN: FileCheck %s <top.txt && FileCheck %s --check-prefix=STD <top.txt
// CHECK-DAG: 7.00 KiB {{.*}} KiB {{.*}} r::fill via <alloc::alloc::Global>::alloc_impl{{$}}
// CHECK-DAG: 6.00 KiB {{.*}} KiB {{.*}} <r::Sq>::load via <alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop{{$}}
// CHECK-DAG: 5.00 KiB {{.*}} KiB {{.*}} <r::Sq as core::clone::Clone>::clone{{$}}
// CHECK-DAG: 4.00 KiB {{.*}} KiB {{.*}} <alloc::vec::Vec<T> as r::Make>::make{{$}}
// CHECK-DAG: 3.00 KiB {{.*}} KiB {{.*}} core::Engine::run{{$}}
// CHECK-DAG: 2.00 KiB {{.*}} KiB {{.*}} d.fill(int){{$}}
// CHECK-DAG: 1.00 KiB {{.*}} KiB {{.*}} m::fill{{$}}
// STD-NOT: % {{ *}}<alloc::alloc
// RUN: grep '#0 .* in r::fill .*  via <alloc::alloc::Global>::alloc_impl' x.*.txt
// RUN: %mprof top --std x.*.heap.pb.gz | grep '7.00 KiB .*  <alloc::alloc::Global>::alloc_impl'

#include <stdlib.h>

static void *volatile kept;

#define FUNCTION(name, symbol, code)                                           \
  void name(void) __asm__(symbol);                                             \
  __attribute__((noinline)) void name(void) {                                  \
    code;                                                                      \
    __asm__ volatile(""); /* no tail call */                                   \
  }

FUNCTION(alloc_impl, "_RNvMs0_NtCs1_5alloc5allocNtB5_6Global10alloc_impl",
         kept = malloc(7 << 10))
FUNCTION(fill, "_RNvCs6GmmlP4bgsG_1r4fill", alloc_impl())
FUNCTION(drop,
         "_ZN70_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..drop.."
         "Drop$GT$4drop17h0f5e9a4b1c2d3e78E",
         kept = malloc(6 << 10))
FUNCTION(load, "_ZN14_$LT$r..Sq$GT$4load17h329ed911b9eb4fa7E", drop())
FUNCTION(clone, "_RNvXCs1_1rNtB2_2SqNtNtCs2_4core5clone5Clone5clone",
         kept = malloc(5 << 10))
FUNCTION(make,
         "_ZN52_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$r..Make$GT$4make"
         "17h0f5e9a4b1c2d3e78E",
         kept = malloc(4 << 10))
FUNCTION(run, "_ZN4core6Engine3runEi", kept = malloc(3 << 10))
FUNCTION(d_fill, "_D1d4fillFiZv", kept = malloc(2 << 10))
FUNCTION(f_fill, "__m_MOD_fill", kept = malloc(1 << 10))

int main(void) {
  fill();
  load();
  clone();
  make();
  run();
  d_fill();
  f_fill();
}
