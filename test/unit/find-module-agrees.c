// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: without _dl_find_object, the loader's list has the same modules and
// unwind tables, also of libraries that are loaded later or unloaded, and of
// modules whose segments have gaps. It takes no lock of the loader.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: gaps="-fuse-ld=lld -Wl,-z,max-page-size=65536"
// RUN: for i in 1 2 3; do \
// RUN:   echo "int f$i(int x) { static char v[$i << 16]; return v[x]; }" > l.c; \
// RUN:   %clang -shared -fPIC $gaps l.c -o l$i.so; done
// RUN: build() { %unit -D_GNU_SOURCE %s %rt/unwind/find_module.c %rtlib \
// RUN:   -o app "$@"; }
// RUN: build && ./app
// RUN: build -no-pie && ./app
// RUN: build $gaps && ./app

#include "check.h"

#include "unwind/rules.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 64 };
static struct {
  uintptr_t pc;
  struct mprof_code_module m;
} found[MOST];
static size_t count;

static void note(uintptr_t pc) {
  CHECK(count < MOST);
  found[count].pc = pc;
  CHECK(mprof_find_module(pc, &found[count].m));
  count++;
}

// A timeout of this program is a failure: the lock of the loader is held.
static void *find_in_thread(void *pc) {
  struct mprof_code_module m;
  CHECK(mprof_find_module((uintptr_t)pc, &m));
  return NULL;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size, (void)arg;
  bool has_tables = false;
  uintptr_t code = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    has_tables |= p->p_type == PT_GNU_EH_FRAME;
    if (p->p_type == PT_LOAD && (p->p_flags & PF_X))
      code = info->dlpi_addr + p->p_vaddr + p->p_memsz / 2;
  }
  if (!has_tables)
    return 0;
  note(code);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, find_in_thread, (void *)code), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}

int main(void) {
  struct mprof_code_module m;
  CHECK(!mprof_find_module((uintptr_t)found, &m) || m.start < m.limit);
  void *l1 = dlopen("./l1.so", RTLD_NOW), *l2 = dlopen("./l2.so", RTLD_NOW);
  CHECK(l1 && l2);
  const uintptr_t f1 = (uintptr_t)dlsym(l1, "f1");
  note(f1);
  note((uintptr_t)dlsym(l2, "f2"));
  count = 0;
  dlclose(l1);
  CHECK(!mprof_find_module(f1, &m));
  dlclose(l2);
  // Likely at the addresses of the other two.
  void *l3 = dlopen("./l3.so", RTLD_NOW);
  CHECK(l3);
  note((uintptr_t)dlsym(l3, "f3"));
  dl_iterate_phdr(visit, NULL);
  CHECK(count > 4);
  CHECK(!mprof_find_module(0, &m));
  void *block = malloc(1);
  CHECK(!mprof_find_module((uintptr_t)block, &m));
  free(block);
  mprof_find_module_init();
  for (size_t i = 0; i < count; i++) {
    CHECK(mprof_find_module(found[i].pc, &m));
    CHECK(m.eh_frame_hdr == found[i].m.eh_frame_hdr);
    CHECK_EQ(m.start, found[i].m.start);
  }
  return 0;
}
