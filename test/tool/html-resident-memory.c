// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: at default options, the page of mprof run says why the resident
// memory of a program with a fragmented heap is larger than its blocks, for
// which moment it says so, and which command shows more. The card has all
// sentences of mprof memory.
//
// REQUIRES: browser
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O1 -g1 %s -o app
// RUN: %build/bin/mprof run --html -q -o out ./app 80000
// RUN: mv out/*.html page.html && %python %S/Inputs/browser.py text all page.html#all \
// RUN:   | grep Overview: > cards
// RUN: FileCheck %s < cards
// CHECK: Left at the end{{[0-9.]+}}{{.*}} of the peak.
// CHECK-SAME: Resident memoryAt exit: {{[3-9][0-9]\.[0-9]}} MiB resident in total, {{.*}} of it used by no other process.
// CHECK-SAME: {{[3-9][0-9]\.[0-9]}} MiBmalloc: free memory between blocks
// CHECK-SAME: malloc_trim(0) would give back {{[0-9.]+}} {{[KM]}}iB, the whole pages
// CHECK-SAME: malloc keeps {{[3-9][0-9]\.[0-9]}} MiB free; blocks in use keep the pages that it cannot give back.
// CHECK-SAME: MProf may be a cause, because it places sampled blocks on page boundaries: --heap-rate=16k does not.
// CHECK-SAME: mprof run --heap-rate=16k -O memory=1 ./app 80000 shows the stacks of these blocks.
// CHECK-SAME: Not in these files:
// RUN: %mprof memory out/*.memory.pb.gz | sed -n '/resident in total/,$p' \
// RUN:   | sed 's/^note: //; s/  *# / shows /' | grep -v '^next: ' > sentences
// RUN: test $(wc -l < sentences) -ge 4
// RUN: while read -r line; do grep -qiF -e "$line." cards || exit 1; done < sentences
//
// A small program has no such profile by default. The page names the option.
// RUN: %build/bin/mprof run --html -q -o small --heap-rate=1 ./app 2000
// RUN: mv small/*.html small.html && %python %S/Inputs/browser.py text all small.html#all \
// RUN:   | grep -F 'Not in these files: temporary blocks (--heapx); where the resident memory was (-O memory=1);'

#include <stdlib.h>
#include <string.h>

enum { BYTES = 500, MOST = 80000, APART = 5 };
static char *blocks[MOST];

int main(int argc, char **argv) {
  const int count = atoi(argv[argc - 1]);
  for (int i = 0; i < count; i++)
    blocks[i] = memset(malloc(BYTES), 1, BYTES);
  for (int i = 0; i < count; i++)
    if (i % APART != 0)
      free(blocks[i]);
  return 0;
}
