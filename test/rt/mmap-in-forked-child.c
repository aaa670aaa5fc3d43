// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a forked child has what its parent has mapped as memory in use, below
// the parent's stacks, and counts only its own calls. The memory profile of the
// child shows these stacks, too. A child that maps nothing writes no file.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g %s -o app
// RUN: %run{log_path=x.%%p} ./app > pids
// RUN: read child other < pids; test ! -e x.$other.mmap.pb.gz && \
// RUN:   %python %src/test/Inputs/mmap_rows.py %build/bin/mprof x.$child.mmap.pb.gz > rows
// RUN: FileCheck --match-full-lines %s < rows
// CHECK:      of_child 1 4096 1 4096
// CHECK-NEXT: of_parent 0 0 2 28672
// CHECK-NOT:  {{.}}
// RUN: %mprof memory memory.pb.gz | FileCheck --check-prefix=MEMORY %s
// MEMORY: mapped memory, by the stack that mapped it
// MEMORY: of_parent mmap-in-forked-child.c

#include <mprof/mprof.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/check.h"

enum { PAGE = 4096 };

#define MAPPER(Name)                                                           \
  __attribute__((noinline)) static char *Name(size_t pages) {                  \
    char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,                 \
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);                        \
    NEED(p != MAP_FAILED);                                                     \
    return memset(p, 1, pages * PAGE);                                         \
  }
MAPPER(of_parent)
MAPPER(of_child)

static pid_t run(void (*f)(char *), char *p) {
  int status;
  const pid_t child = fork();
  NEED(child >= 0);
  if (child == 0) {
    f(p);
    exit(0);
  }
  NEED(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
  return child;
}

static void map(char *p) {
  of_child(1);
  NEED(munmap(p + PAGE, PAGE) == 0);
  CHECK_EQ(mprof_write_profile("memory", "memory.pb.gz", 0), 0);
}

static void nothing(char *p) { (void)p; }

int main(void) {
  char *p = of_parent(8);
  const pid_t child = run(map, p), other = run(nothing, p);
  printf("%d %d\n", child, other);
  return 0;
}
