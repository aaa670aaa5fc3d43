// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread is not stuck at a condition if the condition's address is in
// a shared mapping of a file. The same holds if the address is in memory that
// is not readable at the time of the search.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck=1} timeout 600 ./app

#include "gates.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static void *map(int flags, int fd) {
  void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
  NEED(p != MAP_FAILED);
  return p;
}

static void *map_file(const char *name) {
  const int fd = open(name, O_RDWR | O_CREAT, 0600);
  NEED(fd >= 0 && ftruncate(fd, PAGE) == 0);
  void *p = map(MAP_SHARED, fd);
  close(fd);
  return p;
}

enum { GATES = 4 };

int main(void) {
  struct gate **slots[GATES] = {map_file("kept"), map_file("removed"),
                                map(MAP_PRIVATE | MAP_ANONYMOUS, -1),
                                map(MAP_SHARED | MAP_ANONYMOUS, -1)};
  unlink("removed");
  apart(make_gate_and_forget, NULL);
  for (int i = 0; i < GATES; i++)
    apart(put_gate, slots[i]);
  NEED(mprotect(slots[2], PAGE, PROT_NONE) == 0);
  NEED(mprotect(slots[3], PAGE, PROT_NONE) == 0);
  NEED(count_stuck() == 1);
  NEED(mprotect(slots[2], PAGE, PROT_READ) == 0);
  NEED(mprotect(slots[3], PAGE, PROT_READ) == 0);
  for (int i = 0; i < GATES; i++)
    open_gate(*slots[i]);
  _exit(0);
}
