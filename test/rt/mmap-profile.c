// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the profile mmap shows, by the function that mapped memory, exact
// numbers of calls and bytes, and what is still mapped. munmap may cut a
// mapping, mremap may move it, and MAP_FIXED may replace it. Calls that fail
// count nothing. Programs request the profile, too, and pprof reads it. With
// mmap=0, nothing is recorded. test/preload/mapped-memory.test runs this
// program, too.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g -DREQUEST %s -o app
// RUN: %run{log_path=x} ./app
// RUN: %python %src/test/Inputs/mmap_rows.py %build/bin/mprof x.*.mmap.pb.gz > rows
// RUN: FileCheck --match-full-lines %s < rows
// RUN: %go tool pprof -top -sample_index=alloc_space x.*.mmap.pb.gz \
// RUN:   | grep -q ' 3MB .* pool$'
// RUN: %go tool pprof -top now.txt | grep -q ' 3MB .* pool$'
// RUN: %mprof doctor x.*.mmap.pb.gz | grep -q 'the profile has the kind mmap$'
// RUN: %run{log_path=off:mmap=0} ./app && not ls off.*.mmap.pb.gz
//
//              function, calls, bytes, ranges in use, bytes in use
// CHECK:      attach 2 24576 1 12288
// CHECK-NEXT: cut 1 40960 2 36864
// CHECK-NEXT: failed 1 4096 1 4096
// CHECK-NEXT: gone 1000 4096000 0 0
// CHECK-NEXT: grow 1 49152 1 49152
// CHECK-NEXT: grown 1 16384 1 16384
// CHECK-NEXT: move_break 1 8192 1 4096
// CHECK-NEXT: pool 3 3145728 3 3145728
// CHECK-NEXT: replace 1 8192 1 8192
// CHECK-NEXT: replaced 1 32768 2 24576
// CHECK-NEXT: set_break 1 4096 1 4096
// CHECK-NEXT: shrunk 1 32768 1 4096
// CHECK-NEXT: target 1 65536 0 0
// CHECK-NOT:  {{.}}

#define _GNU_SOURCE
#ifdef REQUEST
#include <mprof/mprof.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "../Inputs/check.h"

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };
enum { ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS };

// The empty statement keeps each call from being a jump.
#define FUNCTION __attribute__((noinline)) static
#define STAYS __asm__ volatile("" ::: "memory")

#define MAPPER(Name)                                                           \
  FUNCTION char *Name(size_t pages) {                                          \
    char *p = mmap(NULL, pages * PAGE, RW, ANONYMOUS, -1, 0);                  \
    STAYS;                                                                     \
    NEED(p != MAP_FAILED);                                                     \
    return p;                                                                  \
  }
MAPPER(pool)
MAPPER(cut)
MAPPER(gone)
MAPPER(grown)
MAPPER(target)
MAPPER(shrunk)
MAPPER(replaced)
MAPPER(failed)

FUNCTION void grow(char *p, char *to) {
  NEED(mremap(p, 4 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
  STAYS;
}

FUNCTION void replace(char *p) {
  NEED(mmap(p, 2 * PAGE, RW, ANONYMOUS | MAP_FIXED, -1, 0) == p);
  STAYS;
}

FUNCTION void move_break(intptr_t bytes) {
  NEED(sbrk(bytes) != (void *)-1);
  STAYS;
}

FUNCTION void set_break(char *to) {
  NEED(brk(to) == 0);
  STAYS;
}

__attribute__((unused)) FUNCTION char *attach(int id) {
  char *p = shmat(id, NULL, 0);
  STAYS;
  NEED(p != (void *)-1);
  return p;
}

int main(void) {
  for (int i = 0; i < 3; i++)
    pool(256);
  for (int i = 0; i < 1000; i++)
    NEED(munmap(gone(1), PAGE) == 0);
  NEED(munmap(cut(10) + 4 * PAGE, PAGE) == 0);
  grow(grown(4), target(16));
  NEED(mremap(shrunk(8), 8 * PAGE, PAGE, 0) != MAP_FAILED);
  replace(replaced(8) + 3 * PAGE);

  move_break(2 * PAGE);
  move_break(-PAGE);
  set_break((char *)sbrk(0) + PAGE);
  set_break(NULL); // changes nothing

#ifndef NO_SEGMENTS
  const int id = shmget(IPC_PRIVATE, 10000, IPC_CREAT | 0600);
  NEED(id >= 0);
  char *first = attach(id), *second = attach(id);
  NEED(shmctl(id, IPC_RMID, NULL) == 0);
  NEED(shmdt(first) == 0);
  second[0] = 1;
#endif

  // None of these calls changes anything.
  char *p = failed(1);
  CHECK(mmap(NULL, PAGE, RW, MAP_PRIVATE, -1, 0) == MAP_FAILED);
  CHECK(munmap(p + 1, PAGE) != 0);
  CHECK(munmap(p, 0) != 0);
  CHECK(munmap(p, SIZE_MAX / 2) != 0);
  CHECK(mremap(p, PAGE, SIZE_MAX / 2, MREMAP_MAYMOVE) == MAP_FAILED);
  CHECK(mremap(p, PAGE, 2 * PAGE, MREMAP_FIXED, p) == MAP_FAILED);
  CHECK(brk((void *)SIZE_MAX) != 0);
  CHECK(sbrk(INTPTR_MAX) == (void *)-1);
  CHECK(shmat(-1, NULL, 0) == (void *)-1);
  CHECK(shmdt(p) != 0);
#ifdef REQUEST
  CHECK_EQ(mprof_write_profile("mmap", "now.txt", 1), 0);
#endif
  return 0;
}
