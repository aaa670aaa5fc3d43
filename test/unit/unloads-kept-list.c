// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: while the writer keeps a list of mappings, each reader gets a copy of
// this list, also if code was mapped since. A reader can change its copy. After
// the list is dropped, readers get the current mappings.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "file/outfile.h"
#include "symbolize/module_unloads.h"

#include <sys/mman.h>

static size_t mappings(uintptr_t addr) {
  struct mprof_maps m;
  CHECK_EQ(mprof_unloads_read(&m), 0);
  CHECK(mprof_maps_find(&m, (uintptr_t)&mappings) == &m.v[0]);
  m.v[0].limit = 0; // of the copy
  const size_t found = mprof_maps_find(&m, addr) != NULL;
  mprof_maps_free(&m);
  return found;
}

int main(void) {
  mprof_guard_enter();
  mprof_lock_acquire(&mprof_writer_lock);
  CHECK_EQ(mprof_unloads_keep(), 0);
  void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(code != MAP_FAILED);
  CHECK_EQ(mappings((uintptr_t)code), 0);
  CHECK_EQ(mappings((uintptr_t)code), 0);
  mprof_unloads_drop();
  CHECK_EQ(mappings((uintptr_t)code), 1);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return 0;
}
