// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: programs that the runtime starts are not profiled, however the user's
// program is profiled. The program that finds names runs once. It gets neither
// MPROF_OPTIONS nor the libraries of LD_PRELOAD. The only files are those of
// the user's program. This also holds if the runtime is part of the program
// that finds names.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O1 -g -fno-builtin %s -o plain
// RUN: %mprof_clang -fmprof -g -O1 %s -o built
// RUN: mkdir cwd && export RECORD=$PWD/record PATH_OF=external_symbolizer_path=$PWD/mprof
// RUN: record() { printf '#!/bin/sh\nRECORD="%%s" RECORDED="%%s" exec %S/Inputs/recorder.sh "$@"\n' \
// RUN:   $RECORD "$1" > mprof; }
// RUN: record %build/bin/mprof && chmod +x mprof
//
// A program that is built with MProf:
// RUN: env MPROF_OPTIONS=heap_rate=4096:log_path=o/:$PATH_OF \
// RUN:   LD_PRELOAD=libutil.so.1 %python %S/Inputs/started.py \
// RUN:   "mprof.built.N.heap.pb.gz mprof.built.N.txt" 1 ./built
//
// mprof run:
// RUN: env LD_PRELOAD=libutil.so.1 %python %S/Inputs/started.py \
// RUN:   "mprof.plain.N.heap.pb.gz mprof.plain.N.memory.pb.gz mprof.plain.N.peak.pb.gz mprof.plain.N.txt" 1 \
// RUN:   %mprof run -q --heap-rate=4096 -o o -O $PATH_OF ./plain
//
// LD_PRELOAD by hand:
// RUN: %python %S/Inputs/started.py "mprof.plain.N.heap.pb.gz mprof.plain.N.txt" 1 \
// RUN:   env MPROF_OPTIONS=heap_rate=4096:log_path=o/:$PATH_OF \
// RUN:   LD_PRELOAD=%preload:libutil.so.1 ./plain
//
// The runtime is part of the program that MProf starts. This program ends
// without an answer, so there are no names.
// RUN: record "env -C $PWD/cwd $PWD/built"
// RUN: env MPROF_OPTIONS=heap_rate=4096:log_path=o/:$PATH_OF \
// RUN:   LD_PRELOAD=libutil.so.1 %python %S/Inputs/started.py \
// RUN:   "mprof.built.N.heap.pb.gz mprof.built.N.txt" 1 ./built
// RUN: ls cwd | count 0

#include <stdlib.h>

void *volatile kept;

__attribute__((noinline)) static void leak(void) {
  for (int i = 0; i < 100000; i++)
    kept = malloc(1000);
}

int main(void) {
  leak();
  return 0;
}
