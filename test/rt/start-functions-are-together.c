// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime's functions that run in an empty program lie next to each
// other, because the kernel maps 64 KiB of the program's file around each of
// them. The functions that read MPROF_OPTIONS lie there, too. The list of these
// functions names only functions that exist.
//
// REQUIRES: valgrind
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 %s -o app
// RUN: %llvm_tools/llvm-nm app >nm.txt
// RUN: for options in "-u MPROF_OPTIONS" \
// RUN:     MPROF_OPTIONS=heap_rate=1024:log_path=x:quiet=1; do \
// RUN:   env $options valgrind --tool=callgrind \
// RUN:     --callgrind-out-file=calls.txt ./app 2>valgrind.txt && \
// RUN:   %python %src/test/Inputs/start_functions.py calls.txt nm.txt 32768 \
// RUN:     >places.txt && \
// RUN:   FileCheck --input-file=places.txt %s || exit 1; done
// CHECK: together: {{[4-9][0-9]$}}
// CHECK-NOT: elsewhere
// RUN: for name in $(grep '^[a-z_]' %src/rt/start_functions.txt); do \
// RUN:   grep -rqE "\<$name\(" --include='*.c' %src/rt || \
// RUN:   { echo "no function $name"; exit 1; }; done

int main(void) { return 0; }
