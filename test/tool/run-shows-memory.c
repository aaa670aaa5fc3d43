// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof run shows where the memory was, if the blocks in use are less
// than 80 % of it. A program whose blocks are most of its memory, and a small
// program, have no such table.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O1 -g %s -o app
// RUN: %mprof run -o maps ./app 40 0 2> maps.txt
// RUN: FileCheck %s < maps.txt
// RUN: %mprof run -o allocates ./app 0 40 2> allocates.txt
// RUN: grep -q ' inuse_space ' allocates.txt && not grep ' part$' allocates.txt
// RUN: %mprof run -o small ./app 1 0 2> small.txt
// RUN: not grep ' part$' small.txt
//
// CHECK: rss of ./app 40 0, at exit, {{.*}} after the start
// CHECK-NEXT: rss share part
// CHECK-NEXT: 4{{[01]}}.{{[0-9]}} MiB 9{{[0-9]}} % {{anonymous|mapped}} memory
// CHECK: mprof memory {{.*}}.memory.pb.gz

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MEGA = 1 << 20, BLOCK = 20000 };
static char *volatile kept;

int main(int argc, char **argv) {
  const size_t mapped = (size_t)atoi(argv[1]) * MEGA,
               allocated = (size_t)atoi(argv[argc - 1]) * MEGA;
  if (mapped)
    memset(mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
           1, mapped);
  for (size_t i = 0; i < allocated; i += BLOCK)
    memset(kept = malloc(BLOCK), 1, BLOCK);
  return 0;
}
