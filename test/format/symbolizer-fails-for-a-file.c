// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if mprof ends while it reads one file, it is not asked about this
// file again, but started again for other files. A message names the file
// without names, also if several profiles need its names.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE "-DMPROF_SYMBOLIZER_PLACES=\"$PWD\"" \
// RUN:   %s %rt/symbolize/symbolizers.c %rtlib -Wl,-z,muldefs -o app
// The first process of each profile is asked about the program. mprof ends with
// this status if it has no memory.
// RUN: printf '%%s\n' '#!/bin/sh' 'cd %t.dir && echo >> starts' \
// RUN:   'test $(($(wc -l < starts) %% 2)) = 1 && exit 2' \
// RUN:   'exec %build/bin/mprof "$@"' > mprof && chmod +x mprof
// RUN: %run{symbolizer_cache=0} ./app 2> err
// RUN: wc -l < starts | grep -x 4
// RUN: grep -c '^mprof: mprof ended unexpectedly when it looked up names in /.*/app; its frames are shown without names$' err | grep -x 1
// RUN: wc -l < err | grep -x 1

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/symbolize.h"

#include <dlfcn.h>
#include <string.h>

__attribute__((noinline)) void leaf(void) {
  __asm__ volatile(".fill 16, 1, 0x90");
}

static void look(const struct mprof_frame *f, void *name) {
  strncpy(name, f->function, 15);
}

static const char *name_of(mprof_pc pc) {
  static char name[16];
  memset(name, 0, sizeof(name));
  CHECK(mprof_symbolize(pc, look, name));
  return name;
}

int main(void) {
  CHECK(mprof_process_ready());
  void *libc = dlopen("libc.so.6", RTLD_LAZY);
  NEED(libc != NULL);
  const mprof_pc in_libc = (uintptr_t)dlsym(libc, "qsort") + 1;
  for (int i = 0; i < 2; i++) {
    writer_enter();
    CHECK_EQ(mprof_symbolize_begin(true), 0);
    CHECK_STR(name_of(snap_pc(leaf, 1)), "");
    CHECK_STR(name_of(in_libc + i), "qsort");
    CHECK_STR(name_of(snap_pc(leaf, 2)), "");
    mprof_symbolize_end();
    writer_leave();
  }
  return 0;
}
