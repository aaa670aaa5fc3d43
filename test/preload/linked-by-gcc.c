// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: gcc links a program with the library, as docs/no-rebuild.md says. The
// program has profiles without LD_PRELOAD, and calls MProf's functions: its
// blocks have a label, and it writes a profile itself. mprof run does not load
// the library a second time.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: export PKG_CONFIG_PATH=%build/lib/pkgconfig
// RUN: gcc -O2 -g -fno-builtin %s $(pkg-config --cflags --libs mprof-preload) \
// RUN:   -o app
// RUN: %run{heap_rate=1:log_path=x} ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: In use: {{ *}}1,000 bytes in 1 block
// RUN: %mprof top --label=phase=start own.pb.gz | FileCheck --check-prefix=OWN %s
// OWN: 1,000 B {{.*}} main
// RUN: %mprof run -q -o out --heap-rate=1 ./app
// RUN: ls out/*.heap.pb.gz

#include <mprof/mprof.h>
#include <stdlib.h>
#include <string.h>

void *volatile kept;

int main(void) {
  const char *list = getenv("LD_PRELOAD");
  if (list && strstr(list, "libmprof_preload"))
    return 3;
  if (mprof_label_set("phase", "start") != 0)
    return 1;
  kept = malloc(1000);
  return mprof_write_profile("heap", "own.pb.gz", 0) == 0 ? 0 : 2;
}
