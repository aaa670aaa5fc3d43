// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the listing of the mapped modules does not crash if another thread
// unloads a module at any instant, also if a seccomp filter refuses
// process_vm_readv.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app \
// RUN:   -Wl,--wrap=mprof_sys_readable && ./app

#include "core.h"

#include "symbolize/maps.h"

#include "refuse.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 4096 };

static char *module;

// Another thread unloads the module after the runtime has asked whether it can
// be read.
bool __real_mprof_sys_readable(uintptr_t addr);
bool __wrap_mprof_sys_readable(uintptr_t addr);
bool __wrap_mprof_sys_readable(uintptr_t addr) {
  const bool is_readable = __real_mprof_sys_readable(addr);
  if (addr - (uintptr_t)module < SIZE)
    munmap(module, SIZE);
  return is_readable;
}

static void list(void) {
  const int fd = open("/proc/self/exe", O_RDONLY);
  CHECK(fd >= 0);
  module = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  CHECK(module != MAP_FAILED);
  close(fd);
  struct mprof_maps m;
  CHECK_EQ(mprof_maps_read(&m), 0);
  mprof_maps_free(&m);
  munmap(module, SIZE);
}

int main(void) {
  list();
  refuse_call(SYS_process_vm_readv, EPERM);
  list();
  return 0;
}
