// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in an empty program, the runtime calls no function of libc for texts
// or memory, because the kernel maps 64 KiB of libc around each of them.
//
// REQUIRES: valgrind
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 %s -o app
// RUN: env -u MPROF_OPTIONS valgrind --tool=callgrind \
// RUN:   --callgrind-out-file=calls.txt ./app 2>valgrind.txt
// RUN: %llvm_tools/llvm-nm app >nm.txt
// RUN: %python %src/test/Inputs/start_functions.py calls.txt nm.txt 32768 \
// RUN:   >places.txt
// RUN: FileCheck --input-file=places.txt %s
// CHECK: together: {{[4-9][0-9]$}}
// CHECK-NOT: of libc:

int main(void) { return 0; }
