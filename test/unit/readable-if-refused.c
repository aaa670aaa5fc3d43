// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a seccomp filter refuses the call that checks whether an address
// is readable, no address counts as readable. The unwinder then stops before it
// reads an address that may be unmapped.
//
// UNSUPPORTED: unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rt/sys/os_linux.c %rt/sys/stats.c %rt/sys/text.c -o %t && %t

#include "sys/os.h"

#include "refuse.h"

#include <errno.h>
#include <sys/mman.h>

int main(void) {
  char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int here = 0;
  CHECK(gone != MAP_FAILED && munmap(gone, 4096) == 0);
  CHECK(!mprof_sys_readable((uintptr_t)gone));
  CHECK(mprof_sys_readable((uintptr_t)&here));
  refuse_call(SYS_rt_sigprocmask, EPERM);
  CHECK(!mprof_sys_readable((uintptr_t)gone));
  return 0;
}
