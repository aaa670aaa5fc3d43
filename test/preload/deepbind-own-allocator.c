// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a plugin that is loaded with RTLD_DEEPBIND and has an allocator of
// its own keeps that allocator, whether or not its calls are bound lazily. A
// block that a constructor of a plugin allocates may be freed later.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -fPIC -shared -DALLOCATOR %s -o liballocator.so
// RUN: for bind in now lazy; do \
// RUN:   %clang -O1 -fno-builtin -fPIC -shared -DPLUGIN %s -o $bind.so \
// RUN:     -Wl,-z,$bind -L. -lallocator -Wl,-rpath,%t.dir && \
// RUN:   %clang -O1 -fno-builtin -fPIC -shared -DCONSTRUCTOR %s \
// RUN:     -o early-$bind.so -Wl,-z,$bind || exit 1; done
// RUN: %clang -O1 -fno-builtin %s -o plain
// RUN: %mprof_clang -fmprof -O1 -fno-builtin %s -o built
// RUN: for p in now lazy early-now early-lazy; do \
// RUN:   %run{heap_rate=1:log_path=plain} LD_PRELOAD=%preload ./plain ./$p.so \
// RUN:     && %run{heap_rate=1:log_path=built} ./built ./$p.so || exit 1; done

#include <stddef.h>

#if defined(ALLOCATOR)
static char memory[4096];
static size_t used;
void *malloc(size_t size) {
  void *p = memory + used;
  used += (size + 15) & ~(size_t)15;
  return used <= sizeof(memory) ? p : NULL;
}
void free(void *p) {
  if (p && ((char *)p < memory || (char *)p >= memory + sizeof(memory)))
    __builtin_trap(); // a block of another allocator
}
int is_of_allocator(void *p) {
  return (char *)p >= memory && (char *)p < memory + sizeof(memory);
}
#elif defined(PLUGIN)
#include <stdlib.h>
int is_of_allocator(void *p);
int work(void) {
  void *p = malloc(100);
  int is_own = is_of_allocator(p);
  free(p);
  return is_own;
}
#elif defined(CONSTRUCTOR)
#include <stdlib.h>
static void *volatile early[64];
__attribute__((constructor)) static void begin(void) {
  for (int i = 0; i < 64; i++)
    early[i] = malloc(4096 * (size_t)i);
}
int work(void) {
  for (int i = 0; i < 64; i++)
    free(early[i]);
  return 1;
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>

int main(int argc, char **argv) {
  for (int i = 0; i < 3; i++) {
    void *h = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_DEEPBIND) : NULL;
    int (*work)(void) = h ? (int (*)(void))dlsym(h, "work") : NULL;
    if (!work || !work() || dlclose(h) != 0)
      return 1;
  }
  return 0;
}
#endif
