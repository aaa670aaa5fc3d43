// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a profile with the deepest stack, a profile with many locations and
// an empty profile are written completely, with consecutive ids. Writing a
// profile a second time needs no more memory.
//
// REQUIRES: go
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app
// RUN: gzip -t deep.pb.gz
// RUN: %go tool pprof -symbolize=none -raw deep.pb.gz > raw
// RUN: %python -c "import re; t = open('raw').read(); \
// RUN:   ids = [int(i) for i in re.findall(r'^ +(\d+): 0x[0-9a-f]+ M=', t, re.M)]; \
// RUN:   assert ids == list(range(1, 6001 + 1)), len(ids); \
// RUN:   deep = re.search(r'1 +64 +1 +64: ([\d ]+)', t)[1].split(); \
// RUN:   assert len(deep) == 1025 and len(set(deep)) == 1025, len(deep)"
// RUN: %go tool pprof -raw empty.pb.gz | FileCheck %s
// CHECK: alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes
// CHECK-NEXT: Locations
// CHECK-NEXT: Mappings
// CHECK-NEXT: 1: {{.*}}/app

#include "core.h"
#include "snap.h"

#include "sys/os.h"
#include "unwind/unwind.h"

#include <sys/mman.h>

static size_t count_mappings(void) {
  struct mprof_procfile f;
  size_t n = 0;
  CHECK_EQ(mprof_procfile_read(&f, "/proc/self/maps"), 0);
  for (size_t i = 0; i < f.len; i++)
    n += f.data[i] == '\n';
  mprof_procfile_free(&f);
  return n;
}

int main(void) {
  CHECK_EQ(snap_write("empty.pb.gz", MPROF_PROFILE_heap, MPROF_FORM_PPROF), 0);
  snap.rate = 1;
  char *code = mmap(NULL, 65536, PROT_READ | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static mprof_pc stack[6000];
  for (int i = 0; i < 6000; i++)
    stack[i] = (mprof_pc)(code + 1 + 3 * i);
  for (int i = 0; i < 12; i++)
    snap_add(32, 1, 0, 500, stack + 500 * i);
  snap_add(64, 1, 0, 1024, stack)->end = MPROF_STACK_CUT_DEPTH;
  CHECK_EQ(snap_write("deep.pb.gz", MPROF_PROFILE_heap, MPROF_FORM_PPROF), 0);
  size_t before = count_mappings();
  CHECK_EQ(snap_write("deep.pb.gz", MPROF_PROFILE_heap, MPROF_FORM_PPROF), 0);
  CHECK_EQ(count_mappings(), before);
  return 0;
}
