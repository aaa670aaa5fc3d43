// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory profile counts all small freed blocks in the lists of a
// glibc before 2.32, whose links are plain addresses.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:memory=1:report=0:log_path=old} ./app
// RUN: %mprof memory -n 0 old.*.memory.pb.gz | FileCheck %s
// CHECK: 1.2{{[2-4]}} MiB {{.*}} malloc: freed blocks, kept for reuse

#include <gnu/libc-version.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// malloc keeps at most 7 blocks of a size for the thread. The others get into
// the list of the arena.
enum { N = 10000, SMALL = 120, OF_THREAD = 7 };
static char *volatile blocks[N];

int main(void) {
  const int has_plain_links =
      atoi(strchr(gnu_get_libc_version(), '.') + 1) < 32;
  for (int i = 0; i < N; i++)
    blocks[i] = memset(malloc(SMALL), 1, SMALL);
  for (int i = 0; i < N; i++)
    free(blocks[i]);
  for (int i = OF_THREAD; i < N && !has_plain_links; i++) {
    const uintptr_t at = (uintptr_t)blocks[i];
    *(volatile uintptr_t *)at ^= at >> 12;
  }
  return 0;
}
