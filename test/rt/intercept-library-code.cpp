// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: blocks that the C++ library itself allocates for the program are
// counted once, and so are their frees. With -fno-mprof-intercept these blocks
// are not counted.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for how in -fuse-ld=bfd -fuse-ld=gold -no-pie -static -static-pie -static-libstdc++; do \
// RUN:   %mprof_clangxx -fmprof -std=c++17 -O2 $how %s -o on || exit 1; \
// RUN:   rm -f on.*; %run{heap_rate=1:report_std=1:log_path=on.%%p} ./on || exit 1; \
// RUN:   grep -q "in std::.*basic_string.*reserve" on.*.txt || exit 1; \
// RUN:   grep -q "76.17 KiB (78,000 bytes) in 10 blocks" on.*.txt || exit 1; \
// RUN:   grep -q "(5,556 bytes) in 1 block" on.*.txt && exit 1; \
// RUN: done; true
// RUN: %mprof_clangxx -fmprof -fno-mprof-intercept -std=c++17 -O2 %s -o off
// RUN: %run{heap_rate=1:report_std=1:log_path=off.%%p} ./off && not grep -q reserve off.*.txt
#include <string>

static std::string *volatile kept[10];

int main() {
  for (auto &p : kept) {
    std::string freed;
    freed.reserve(5555);
    p = new std::string;
    p->reserve(7799); // 7,800 bytes with the terminator
  }
  return 0;
}
