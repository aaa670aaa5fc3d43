// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: syscall() behaves with MProf as without it, for the futex call and
// for others. Its results, data and errno do not differ. This also holds if the
// program is compiled with _FORTIFY_SOURCE.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: %mprof_clang -fmprof -O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 \
// RUN:   -pthread -I%src/test/Inputs %s -o checked
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./checked > checked.txt
// RUN: diff plain.txt checked.txt
//
// CHECK: syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL): -1, errno EAGAIN
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>

static int p[2];
static int word = 0;

static void futex_wait(void *who) {
  SHOW_NUMBER_AS(who, syscall(SYS_futex, &word, FUTEX_WAIT, 0, &minute));
}

static void use_syscalls(void) {
  struct timespec soon = {0, 10000000};
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &soon));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &negative));
  SHOW_NUMBER(syscall(SYS_futex, NULL, FUTEX_WAIT, 0, NULL));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAKE, 1));
  SHOW_NUMBER(syscall(SYS_futex, &word, 123456, 0));
  soon = after_on(CLOCK_MONOTONIC, 10);
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &soon, NULL,
                      FUTEX_BITSET_MATCH_ANY));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &soon, NULL, 0));
  handle_with(0);
  interrupt(futex_wait, SYS_futex);
  struct thread t;
  start_waiting(&t, futex_wait, "waited", &word, sizeof(word));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 0, 0, &handled, 7));
  NEED(syscall(SYS_futex, &word, FUTEX_WAKE, 1) == 1);
  finish(&t);
  // Other calls than futex, with none to six arguments.
  say("getpid: %d", syscall(SYS_getpid) == getpid());
  say("gettid: %d", syscall(SYS_gettid) == getpid());
  SHOW_NUMBER(syscall(SYS_close, -1));
  SHOW_NUMBER(syscall(SYS_kill, getpid(), 0));
  NEED(pipe(p) == 0);
  SHOW_NUMBER(syscall(SYS_write, p[1], "by hand", 7));
  SHOW_NUMBER(syscall(SYS_read, p[0], buffer, sizeof(buffer)));
  say_got();
  SHOW_NUMBER(syscall(SYS_openat, AT_FDCWD, "nowhere", O_RDONLY, 0));
  SHOW_NUMBER(syscall(SYS_mremap, NULL, 1, 1, 77, NULL));
  long at = syscall(SYS_mmap, NULL, 4096, PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  say("mapped: %d", at != -1 && *(char *)at == 0);
  SHOW_NUMBER(syscall(SYS_munmap, at, 4096));
  SHOW_NUMBER(syscall(99999));
  SHOW_NUMBER(syscall(SYS_pread64, p[0], buffer, 1, 0x123456789abcdefLL));
  close(p[0]), close(p[1]);
}

int main(void) {
  use_syscalls();
  say("end");
  return 0;
}
