// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the resident memory is far larger than the blocks in use, the
// report says so, and names the option memory. With this option, the report
// says where the memory was. Otherwise it says nothing.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: for m in mmap freed; do %run{heap_rate=1:log_path=$m} ./app $m || exit 1; done
// RUN: FileCheck %s < mmap.*.txt
// The emulator has resident memory, too, so not all of it can be freed blocks.
// RUN: %if !emulated %{ FileCheck %s < freed.*.txt %}
// RUN: for m in none malloc; do %run{heap_rate=1:log_path=$m} ./app $m || exit 1; done
// RUN: not grep Hint none.*.txt malloc.*.txt
// RUN: %if !emulated %{ %run{heap_rate=1:memory=1:log_path=m} ./app mmap %}
// RUN: %if !emulated %{ FileCheck %s --check-prefix=MEMORY < m.*.txt %}
// MEMORY: Where the memory was
// MEMORY: Resident: 6{{[67]}}.{{.*}} MiB {{.*}}, at exit; mprof memory shows more
// MEMORY: {{9[0-9]}}.{{.}}% 6{{.*}} {{anonymous|mapped}} memory
// MEMORY: Hint: the blocks in use explain only 0.0% of {{.*}} MiB
// MEMORY-NEXT: of anonymous resident memory. The section "Where the memory was" names the rest.
// MEMORY: SUMMARY: MProf: memory: {{[0-9]+}} bytes resident
// CHECK: Resident memory of the process: {{.*}}
// CHECK-NEXT: Hint: the blocks in use explain only 0.0% of {{.*}} MiB
// CHECK-NEXT: of anonymous resident memory. The option memory=1 and mprof memory show the rest
// CHECK-NEXT: (memory.md in share/doc/mprof/docs).
// CHECK: SUMMARY:
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 64 << 20 };
void *volatile kept;

int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  kept = malloc(100); // a process without any block writes no report
  if (strcmp(argv[1], "mmap") == 0) {
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
      return 1;
    memset(p, 1, BYTES);
  } else if (strcmp(argv[1], "malloc") == 0) {
    kept = memset(malloc(BYTES), 1, BYTES);
  } else if (strcmp(argv[1], "freed") == 0) {
    // libc keeps the memory for later blocks.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    kept = memset(malloc(BYTES), 1, BYTES);
    free(kept);
  }
  return 0;
}
