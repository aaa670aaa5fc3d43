// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: without the option heapx there is no heapx profile, and a request for
// the profile is refused. With the option, the heap profile still has its four
// columns. The message at exit and the report mention both profiles. Neither
// profile replaces an earlier file.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run{heap_rate=1:log_path=off} ./app no
// RUN: test -z "$(ls | grep heapx)" && not grep -E 'heapx profile|MProf: heapx' off.*.txt
// RUN: %run{heap_rate=1:heapx=1:log_path=on} ./app yes 2> err
// RUN: grep -q "wrote on.*.heap.pb.gz (5 samples, 1 stack), on.*.heapx.pb.gz (5 temporary blocks, 1 stack) and on.*.txt" err
// RUN: %mprof_read on.*.heap.pb.gz | grep -qx "sample_types: alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes"
// RUN: grep -qx "SUMMARY: MProf: heapx: 5 temporary blocks, .*" on.*.txt
// RUN: %run{heap_rate=1:heapx=1:log_path=on:profile=0} ./app yes 2> err
// RUN: grep -q "txt (5 samples, 1 stack; 5 temporary blocks, 1 stack)" err
// RUN: %run{heapx=1:heap=0:log_path=none} ./app yes
// RUN: test -z "$(ls | grep '^none.*heapx')"
// RUN: %run{heap_rate=1:heapx=1:log_path=o} ./app yes o.%%d.heapx.pb.gz
// RUN: grep -qx precious o.*[0-9].heapx.pb.gz.kept && ls o.*.2.heapx.pb.gz o.*.2.heap.pb.gz

#include <errno.h>
#include <mprof/mprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  void *volatile a;
  for (int i = 0; i < 5; i++) {
    a = malloc(101);
    free(a);
  }
  int error = mprof_write_profile("heapx", "requested", 0);
  if (error != (argv[1][0] == 'y' ? 0 : ENOTSUP))
    return 1;
  if (argc == 3) {
    char name[100], kept[110];
    snprintf(name, sizeof(name), argv[2], (int)getpid());
    snprintf(kept, sizeof(kept), "%s.kept", name);
    FILE *f = fopen(name, "w");
    if (!f || fputs("precious\n", f) < 0 || fclose(f) != 0 ||
        link(name, kept) != 0)
      return 1;
  }
  return 0;
}
