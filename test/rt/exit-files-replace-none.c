// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: files that an earlier process with the same process id has left stay
// as they are. If one of the file names exists, all files of the new process
// have a new number in their names. The line printed at exit has the new names.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run{heap_rate=1} ./app mprof.app.%%d.heap.pb.gz \
// RUN:   mprof.app.%%d.2.txt 2> err
// RUN: grep -qx precious mprof.app.*[0-9].heap.pb.gz.kept
// RUN: cat mprof.app.*.heap.pb.gz | grep -c precious | grep -qx 1
// RUN: grep -qx precious mprof.app.*.2.txt
// RUN: grep -q 'wrote mprof.app.[0-9]*.3.heap.pb.gz .* and mprof.app.[0-9]*.3.txt' err
// RUN: gzip -t mprof.app.*.3.heap.pb.gz && grep -q SUMMARY mprof.app.*.3.txt

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  void *volatile sink = malloc(100);
  free(sink);
  for (int i = 1; i < argc; i++) {
    char name[200], kept[210];
    snprintf(name, sizeof(name), argv[i], (int)getpid());
    FILE *f = fopen(name, "w");
    if (!f || fputs("precious\n", f) < 0 || fclose(f) != 0)
      return 1;
    snprintf(kept, sizeof(kept), "%s.kept", name);
    if (link(name, kept) != 0) // the second link identifies the file later
      return 1;
  }
  return 0;
}
