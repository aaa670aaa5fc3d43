// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the program is the first mapping of a profile, with its build id and
// the right ELF addresses. This holds for GNU ld and lld, with and without PIE,
// and for static programs.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE %s %rtlib -o app \
// RUN:   -Wl,--build-id=0x00112233445566778899aabbccddeeff01234567 && ./app
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE %s %rtlib -o app -fuse-ld=lld \
// RUN:   -Wl,--build-id=0x00112233445566778899aabbccddeeff01234567 && ./app
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE %s %rtlib -o app -no-pie \
// RUN:   -Wl,--build-id=0x00112233445566778899aabbccddeeff01234567 && ./app
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE %s %rtlib -o app -static \
// RUN:   -Wl,--build-id=0x00112233445566778899aabbccddeeff01234567 && ./app

#include "core.h"

#include "symbolize/maps.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>

extern const char __executable_start[];

int main(void) {
  // Maps code below the program, as just-in-time compilers do.
  CHECK(mmap((void *)0x200000, 4096, PROT_READ | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
  struct mprof_maps m;
  CHECK_EQ(mprof_maps_read(&m), 0);
  CHECK(m.len >= 2);
  uintptr_t here = (uintptr_t)&main;
  CHECK(mprof_maps_find(&m, here) == &m.v[0]);
  size_t len = strlen(m.v[0].file);
  CHECK_STR(m.v[0].file + len - 4, "/app");
  CHECK_STR(m.v[0].build_id, "00112233445566778899aabbccddeeff01234567");
  const Elf64_Ehdr *e = (const Elf64_Ehdr *)__executable_start;
  uintptr_t bias = e->e_type == ET_EXEC ? 0 : (uintptr_t)e;
  CHECK_EQ(m.v[0].bias, bias);

  // The code is at this offset in the file.
  FILE *f = fopen("app", "r");
  char code[16];
  CHECK(f != NULL);
  CHECK_EQ(fseek(f, (long)(here - m.v[0].start + m.v[0].offset), SEEK_SET), 0);
  CHECK_EQ(fread(code, 1, sizeof(code), f), sizeof(code));
  CHECK(memcmp(code, (const void *)here, sizeof(code)) == 0);
  fclose(f);

  bool has_vdso = false;
  for (size_t i = 0; i < m.len; i++) {
    has_vdso |= strcmp(m.v[i].file, "[vdso]") == 0;
    CHECK(m.v[i].start < m.v[i].limit);
    CHECK(i < 2 || m.v[i].start >= m.v[i - 1].limit);
  }
  CHECK_EQ(has_vdso, getauxval(AT_SYSINFO_EHDR) != 0);
  CHECK(mprof_maps_find(&m, 1) == NULL);
  mprof_maps_free(&m);
  return 0;
}
