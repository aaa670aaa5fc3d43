// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the kernel may have addresses of a process in requests of aio or
// io_uring, and nobody can query them. So no thread is reported as stuck at a
// condition while the process has an aio context or a ring. This holds even if
// the descriptor of the ring is closed. The report gives the reason.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck=1} timeout 600 ./app
// RUN: FileCheck %s < aio.txt
//
// CHECK: Total: 0 threads
// CHECK: not checked: the process uses io_uring or aio, so the kernel has addresses that MProf cannot read

#include "gates.h"

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/mman.h>

static size_t count_once(const char *report) {
  static struct mprof_stack_record records[8];
  size_t n = 1;
  NEED(mprof_thread_leak_profile(records, 8, &n) == 0);
  NEED(mprof_write_profile("threadleak", report, 2) == 0);
  return n;
}

int main(void) {
  aio_context_t context = 0;
  struct io_uring_params params = {0};
  apart(make_gate_and_forget, NULL);
  NEED(count_stuck() == 1);
  NEED(syscall(SYS_io_setup, 1, &context) == 0);
  NEED(count_once("aio.txt") == 0);
  NEED(syscall(SYS_io_destroy, context) == 0);
  NEED(count_stuck() == 1);
  const int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
  if (ring >= 0) { // not available everywhere
    NEED(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
              IORING_OFF_SQ_RING) != MAP_FAILED);
    NEED(count_once("ring.txt") == 0);
    close(ring);
    NEED(count_once("closed.txt") == 0);
  }
  _exit(0);
}
