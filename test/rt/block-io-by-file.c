// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a wait in read has the kind net if it is of a socket, disk if it is
// of a file, and io if it is of a pipe, in the block profile and in the wall
// profile. In the wall profile, a wait of code without MProf has the same
// kinds.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -DUNINSTRUMENTED %s -c -o other.o
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -c -o main.o
// RUN: %mprof_clang -fmprof main.o other.o -lpthread -o app
// RUN: %run{block_rate=1:block_kinds=io:wall_rate=50:log_path=out} ./app
// RUN: %mprof_read --symbolize out.*.block.pb.gz > block
// RUN: grep 'kind=net .*read <- of_socket' block
// RUN: grep 'kind=disk .*write <- of_file' block
// RUN: grep 'kind=io .*read <- of_pipe' block
// RUN: %mprof_read --symbolize out.*.wall.pb.gz > wall
// RUN: grep 'state=net .*read <- of_socket' wall
// RUN: grep 'state=io .*read <- of_pipe' wall
// RUN: grep 'state=net .*other_of_socket' wall

#include <unistd.h>

void other_of_socket(int fd);

#ifdef UNINSTRUMENTED
__attribute__((noinline)) void other_of_socket(int fd) {
  char c;
  while (read(fd, &c, 1) < 0)
    ;
}
#else

#include "wall_profile.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>

static int pipes[2], pairs[4];

__attribute__((noinline)) static void of_socket(void) {
  char c;
  CHECK_EQ(read(pairs[0], &c, 1), 1);
}
__attribute__((noinline)) static void of_pipe(void) {
  char c;
  CHECK_EQ(read(pipes[0], &c, 1), 1);
}
__attribute__((noinline)) static void of_file(int fd) {
  CHECK_EQ(write(fd, "x", 1), 1);
}
static void *by_socket(void *arg) {
  of_socket();
  return arg;
}
static void *by_pipe(void *arg) {
  of_pipe();
  return arg;
}
static void *by_other(void *arg) {
  other_of_socket(pairs[2]);
  return arg;
}

int main(void) {
  pthread_t t[3];
  CHECK_EQ(pipe(pipes), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs + 2), 0);
  pthread_create(&t[0], NULL, by_socket, NULL);
  pthread_create(&t[1], NULL, by_pipe, NULL);
  pthread_create(&t[2], NULL, by_other, NULL);
  while (!wall_has("of_socket") || !wall_has("of_pipe") ||
         !wall_has("other_of_socket"))
    usleep(10000);
  const int fd = open("file", O_CREAT | O_WRONLY, 0600);
  of_file(fd);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(write(i == 0   ? pairs[1]
                   : i == 1 ? pipes[1]
                            : pairs[3],
                   "x", 1),
             1);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], NULL);
  return 0;
}
#endif
