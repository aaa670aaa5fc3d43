// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime's own threads also start in a program whose thread-local
// variables are larger than their stacks, as those of Zig's library are.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 %s -o app
// RUN: %run{heap_rate=1:memory=1:log_path=x} LD_PRELOAD=%preload ./app 2>err.txt
// RUN: ls x.*.memory.pb.gz && not grep 'cannot create' err.txt

#include <stdlib.h>
#include <string.h>

static _Thread_local volatile char storage[1 << 20];

int main(void) {
  storage[0] = 1;
  char *volatile p = malloc(4 << 20);
  memset(p, 1, 4 << 20);
  free(p);
}
