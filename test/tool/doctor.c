// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof doctor says whether a program is built with MProf and has
// names, what a process runs, why a profile lacks samples, and what options
// mean.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O2 %s -o app && %clang -O2 %s -o plain
// RUN: cp app stripped && strip stripped
// RUN: %mprof doctor ./app | FileCheck --check-prefix=APP %s
// APP: ok MProf's runtime is linked into the program
// APP: ok the file has debug information
// APP-NOT: problem
// RUN: env MPROF_OPTIONS=threadcreate=0 %mprof doctor ./app \
// RUN:   | FileCheck --check-prefix=UNCREATED %s
// UNCREATED: ok kinds that are on: heap, mmap{{$}}
// UNCREATED-NEXT: ok kinds that are off, {{.*}} mutex (mutex_fraction=1), threadcreate (threadcreate=1), threads
// RUN: not %mprof doctor stripped | FileCheck --check-prefix=STRIPPED %s
// STRIPPED: ok MProf's runtime is linked into the program
// STRIPPED: ok kinds that are on: heap, mmap, threadcreate{{$}}
// STRIPPED-NEXT: ok kinds that are off, and options that switch them on: block (block_rate=1), mutex (mutex_fraction=1), threads (threads=1), stuck (stuck=1), trace (trace=1)
// STRIPPED: problem the file has neither function names nor debug information
// RUN: not %mprof doctor plain | FileCheck --check-prefix=PLAIN %s
// PLAIN: problem the file is not built with MProf; {{.*}} mprof-clang -fmprof, or run it with mprof run{{$}}
// RUN: %clang -O2 -static %s -o static && not %mprof doctor static \
// RUN:   | FileCheck --check-prefix=STATIC %s
// STATIC: problem the file is not built with MProf; {{.*}} mprof-clang -fmprof{{$}}
//
// RUN: %run{log_path=empty:threads=1} ./app && not %mprof doctor empty.*.heap.pb.gz \
// RUN:   | FileCheck --check-prefix=EMPTY %s
// EMPTY: problem the profile has no sample: {{.*}} heap_rate=64k
// RUN: %run{heap_rate=1:log_path=full} ./app && %mprof doctor \
// RUN:   full.*.heap.pb.gz | FileCheck --check-prefix=FULL %s
// FULL: ok the profile has the kind heap, with heap_rate=1
// FULL: ok the profile has {{[0-9]+ stack}}
// FULL: ok nothing was lost or truncated
//
// A library without symbols is no problem of the program.
// RUN: %clang -O1 -shared -fPIC -s %S/Inputs/stripped_library.c -o liblibrary.so
// RUN: %mprof_clang -fmprof -g -O1 -DPROGRAM %S/Inputs/stripped_library.c -L. \
// RUN:   -llibrary -Wl,-rpath,$PWD -o user
// RUN: %run{heap_rate=1:log_path=user} ./user && %mprof doctor user.*.heap.pb.gz \
// RUN:   | FileCheck --check-prefix=LIBRARY %s
// LIBRARY: ok 1 of 3 addresses has no name, 1 of them in {{.*}}/liblibrary.so, which has no symbols: install
//
// RUN: not %mprof doctor --options=heap_rate=64k:blok_rate=1 2>&1 \
// RUN:   | FileCheck --check-prefix=EXPLAIN %s
// EXPLAIN-DAG: unknown option 'blok_rate', did you mean 'block_rate'
// EXPLAIN-DAG: heap_rate=65536
// EXPLAIN-DAG: mean number of bytes between samples
//
// RUN: (MPROF_OPTIONS=heap_rate=7:mutex_fraction=1:profile=0:report=0 ./app wait > ready & \
// RUN:   p=$!; until test -s ready; do kill -0 $p || exit 1; done; %mprof doctor $p; kill $p) \
// RUN:   | FileCheck --check-prefix=PROCESS %s
// PROCESS: ok process {{[0-9]+}} runs {{.*}}/app
// PROCESS: ok kinds that are on: heap, mmap, mutex, threadcreate{{$}}
// PROCESS: option heap_rate=7
//
// RUN: (LD_PRELOAD=%preload MPROF_OPTIONS=profile=0:report=0 ./plain wait > waits & \
// RUN:   p=$!; until test -s waits; do kill -0 $p || exit 1; done; %mprof doctor $p; kill $p) \
// RUN:   | FileCheck --check-prefix=LOADED %s
// LOADED-NOT: not built with MProf
// LOADED: ok the process has loaded libmprof_preload.so
// LOADED: ok kinds that are on: heap, mmap, threadcreate{{$}}

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *volatile kept;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    puts("ready");
    fflush(stdout);
    pause();
  }
  kept = malloc(100);
  return kept == NULL;
}
