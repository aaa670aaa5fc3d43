// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: code that the program has moved from its file into other memory at
// the same address, such as large pages, has its names and its place in the
// file. Other code without a file has none.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: %run{symbolizer_cache=0} ./app

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/maps.h"
#include "symbolize/symbolize.h"

#include <sys/mman.h>

// Has a page of its own, which move_away replaces.
__attribute__((noinline, aligned(4096))) void moved(void) {
  __asm__ volatile(".fill 4096, 1, 0x90");
}

static struct mprof_mapping mapping_of(void *code) {
  struct mprof_maps m;
  CHECK_EQ(mprof_maps_read(&m), 0);
  const struct mprof_mapping *found = mprof_maps_find(&m, (uintptr_t)code);
  NEED(found != NULL);
  const struct mprof_mapping copy = *found;
  mprof_maps_free(&m);
  return copy;
}

// Replaces the page of `moved` by a copy that is not a mapping of the file.
static void move_away(void) {
  static char copy[4096];
  memcpy(copy, (void *)moved, sizeof(copy));
  void *page = mmap((void *)moved, sizeof(copy), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  CHECK(page == (void *)moved);
  memcpy(page, copy, sizeof(copy));
  CHECK_EQ(mprotect(page, sizeof(copy), PROT_READ | PROT_EXEC), 0);
}

static bool has_name;
static void look(const struct mprof_frame *f, void *name) {
  has_name = strcmp(f->function, name) == 0;
}

int main(void) {
  CHECK(mprof_process_ready());
  const struct mprof_mapping before = mapping_of((void *)moved);
  move_away();
  const struct mprof_mapping after = mapping_of((void *)moved);
  CHECK_EQ(after.start, (uintptr_t)moved);
  CHECK_STR(after.file, before.file);
  CHECK_STR(after.build_id, before.build_id);
  CHECK_EQ(after.bias, before.bias);
  CHECK_EQ(after.offset, before.offset + (after.start - before.start));

  void *other = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(other != MAP_FAILED);
  CHECK(strncmp(mapping_of(other).file, "[JIT ", 5) == 0);

  writer_enter();
  CHECK_EQ(mprof_symbolize_begin(true), 0);
  CHECK(mprof_symbolize(snap_pc(moved, 4), look, "moved"));
  CHECK(has_name);
  CHECK(mprof_symbolize((uintptr_t)other + 4, look, ""));
  CHECK(has_name);
  mprof_symbolize_end();
  writer_leave();
  return 0;
}
