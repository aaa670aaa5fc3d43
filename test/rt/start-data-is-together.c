// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the variables that the runtime uses in an empty program lie next to
// each other, because each page of .bss that a program touches is 4 KiB of
// memory. Variables with MPROF_START_DATA are not in .bss. If this test fails,
// pages.txt names the variables that lack it.
//
// REQUIRES: valgrind
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -no-pie -O2 %s -o app
// RUN: env -u MPROF_OPTIONS valgrind --tool=lackey --trace-mem=yes \
// RUN:   --log-file=lackey.txt ./app
// RUN: %llvm_tools/llvm-nm -n app > nm.txt
// RUN: %python %src/test/Inputs/start_pages.py lackey.txt nm.txt > pages.txt
// RUN: FileCheck --input-file=pages.txt %s
// CHECK: pages: {{[0-4]$}}

int main(void) { return 0; }
