// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that waits in a page fault has the state fault in the wall
// profile, with the stack of the code that touched the page. Here another
// thread provides the page, as a slow disk would (userfaultfd).
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -lpthread -o app
// RUN: %run{wall_rate=50:log_path=out} ./app > said
// RUN: grep -x 'no userfaultfd' said || \
// RUN:   %mprof_read --symbolize out.*.wall.pb.gz | grep 'state=fault : touch <- '

#define _GNU_SOURCE
#include "wall_profile.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile char *page;

__attribute__((noinline)) static void touch(void) { page[0] += 1; }

static void *run(void *arg) {
  touch();
  return arg;
}

int main(void) {
  pthread_t t;
  const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) {
    puts("no userfaultfd");
    return 0;
  }
  page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
  struct uffdio_register r = {.range = {.start = (uintptr_t)page, .len = bytes},
                              .mode = UFFDIO_REGISTER_MODE_MISSING};
  CHECK_EQ(ioctl(fd, UFFDIO_REGISTER, &r), 0);
  CHECK_EQ(pthread_create(&t, NULL, run, NULL), 0);
  while (!wall_has("touch"))
    usleep(10000);
  struct uffdio_zeropage z = {
      .range = {.start = (uintptr_t)page, .len = bytes}};
  CHECK_EQ(ioctl(fd, UFFDIO_ZEROPAGE, &z), 0);
  pthread_join(t, NULL);
  return 0;
}
