// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof run shows the profiles of a program of Go, which ends by a
// system call of its own, so that the runtime cannot write them. The exit
// status is that of the program, and only the profiles are left. A program that
// says that it wants another file of counts gets it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -g1 -pthread -I%src/test/Inputs %s -o app
// RUN: %mprof run -o out --heap-rate=1 --block ./app 2>err.txt >out.txt; test $? = 7
// RUN: FileCheck %s <err.txt && test ! -s out.txt
// CHECK: inuse_space of {{.*}}, at exit
// CHECK-NEXT: inuse_space
// CHECK-NEXT: 10.0 KiB {{.*}} keep {{.*}}.c:[[#]]
// CHECK: block profile: who waited, {{[0-9]}}
// CHECK: main {{.*}} via pthread_join
// CHECK-NOT: recover
// RUN: ls out >files.txt && grep heap.pb.gz files.txt && not grep persist files.txt
// RUN: %mprof info out/*.heap.pb.gz | grep 'written: at exit'
//
// RUN: %mprof run -o own --heap-rate=1 -O persist=own.persist ./app 2>err.txt; test $? = 7
// RUN: ls own.persist && not ls own/*.pb.gz

#define _GNU_SOURCE
#include "sync-observe.h"

#include <stdlib.h>

// Go's linker makes a section of this name.
__attribute__((section(".go.buildinfo"), used)) static char info[16] = "Go";

static void *volatile kept;

__attribute__((noinline)) static void *keep(void *arg) {
  kept = malloc(10 << 10);
  until_main_waits(NULL, 0);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, keep, NULL);
  pthread_join(t, NULL);
  syscall(SYS_exit_group, 7);
}
