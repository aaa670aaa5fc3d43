// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: read, write, their variants and fsync behave on files with MProf as
// without it. Their results, data and errno do not differ. This also holds if
// the program is compiled with _FORTIFY_SOURCE.
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
// CHECK: read(file, buffer, 5): 5
// CHECK-NEXT: got "hello"
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <fcntl.h>

static void use_files(void) {
  int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  NEED(file >= 0);
  SHOW_NUMBER(write(file, "hello world", 11));
  SHOW_NUMBER(lseek(file, 0, SEEK_SET));
  SHOW_NUMBER(read(file, buffer, 5));
  say_got();
  SHOW_NUMBER(read(file, buffer, sizeof(buffer)));
  say_got();
  SHOW_NUMBER(read(file, buffer, sizeof(buffer)));
  SHOW_NUMBER(read(file, buffer, 0));
  SHOW_NUMBER(pread(file, buffer, 5, 6));
  say_got();
  SHOW_NUMBER(pread(file, buffer, 5, -1));
  SHOW_NUMBER(pwrite(file, "W", 1, 6));
  SHOW_NUMBER(pwrite(file, "W", 1, -1));
  struct iovec in[2] = {{buffer, 2}, {buffer + 10, 9}};
  SHOW_NUMBER(lseek(file, 0, SEEK_SET));
  SHOW_NUMBER(readv(file, in, 2));
  say("got \"%s\", \"%s\"", buffer, buffer + 10);
  memset(buffer, 0, sizeof(buffer));
  SHOW_NUMBER(readv(file, in, -1));
  SHOW_NUMBER(preadv(file, in, 2, 4));
  say("got \"%s\", \"%s\"", buffer, buffer + 10);
  memset(buffer, 0, sizeof(buffer));
  struct iovec out[2] = {{"one ", 4}, {"two", 3}};
  SHOW_NUMBER(writev(file, out, 2));
  SHOW_NUMBER(pwritev(file, out, 2, 2));
  SHOW_NUMBER(pread(file, buffer, sizeof(buffer), 0));
  say_got();
  SHOW_NUMBER(read(-1, buffer, 1));
  SHOW_NUMBER(write(-1, "", 1));
  SHOW_NUMBER(readv(-1, in, 2));
  SHOW_NUMBER(writev(-1, out, 2));
  SHOW_NUMBER(read(file, (void *)1, 1));
  SHOW_NUMBER(fsync(file));
  SHOW_NUMBER(fdatasync(file));
  SHOW_NUMBER(fsync(-1));
  SHOW_NUMBER(fdatasync(-1));
  int p[2];
  NEED(pipe(p) == 0);
  SHOW_NUMBER(fsync(p[0]));
  SHOW_NUMBER(fdatasync(p[0]));
  SHOW_NUMBER(pread(p[0], buffer, 1, 0));
  close(p[0]), close(p[1]), close(file);
}

int main(void) {
  use_files();
  say("end");
  return 0;
}
