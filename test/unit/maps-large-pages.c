// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with pages of 64 KiB, each segment of a small library is mapped from
// the begin of its file. The mapping of the code still belongs to the header in
// the first mapping.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: echo 'const char v[9000] = {1}; int f(void) { return 1; }' > l.c
// RUN: %clang -shared -fPIC -nostdlib -fuse-ld=lld \
// RUN:   -Wl,-z,max-page-size=65536 l.c -o l.so
// RUN: readelf -lW l.so | grep -E 'LOAD +0x00[0-9a-f]+ 0x0*1[0-9a-f]{4} .* R E '
// RUN: %unit -D_GNU_SOURCE %s %rtlib -Wl,--wrap=mprof_sys_page_size -o app
// RUN: ./app $PWD/l.so

#include "check.h"

#include "symbolize/maps.h"
#include "sys/os.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { SIZE = 65536 };

uintptr_t __wrap_mprof_sys_page_size(void);
uintptr_t __wrap_mprof_sys_page_size(void) { return SIZE; }

// Maps the library as a kernel with such pages does, and returns where.
static uintptr_t map_library(const char *path) {
  const int fd = open(path, O_RDONLY);
  CHECK(fd >= 0);
  char *p = mmap(NULL, 8 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED);
  p = (char *)(((uintptr_t)p + SIZE) & -(uintptr_t)SIZE);
  CHECK(mmap(p, SIZE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == p);
  CHECK(mmap(p + SIZE, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
             0) == p + SIZE);
  return (uintptr_t)p;
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  const uintptr_t base = map_library(argv[1]);
  struct mprof_maps m;
  CHECK_EQ(mprof_maps_read(&m), 0);
  const struct mprof_mapping *code = mprof_maps_find(&m, base + SIZE);
  CHECK(code != NULL);
  CHECK_EQ(code->bias, base);
  mprof_maps_free(&m);
  return 0;
}
