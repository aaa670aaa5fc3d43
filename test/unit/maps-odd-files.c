// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a profile's mappings, file names with blanks, deleted files, long
// paths and code without a file have names that tools can use. A truncated or
// corrupt ELF file that is mapped does not crash the runtime.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app -Wl,--build-id && ./app

#include "core.h"

#include "symbolize/maps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 8192 };

// Maps a copy of the program's first bytes under a name, as executable memory.
static unsigned char *map_copy(const char *name, int *fd) {
  static char data[SIZE];
  int app = open("/proc/self/exe", O_RDONLY);
  CHECK_EQ(read(app, data, SIZE), SIZE);
  close(app);
  *fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(*fd >= 0);
  CHECK_EQ(write(*fd, data, SIZE), SIZE);
  void *p =
      mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, *fd, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static struct mprof_mapping look(const void *p) {
  struct mprof_maps m;
  CHECK_EQ(mprof_maps_read(&m), 0);
  const struct mprof_mapping *v = mprof_maps_find(&m, (uintptr_t)p);
  CHECK(v != NULL);
  struct mprof_mapping copy = *v;
  mprof_maps_free(&m);
  return copy;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

int main(void) {
  int fd;
  struct mprof_mapping self = look(&main), m;
  CHECK_EQ(strlen(self.build_id), 40);

  unsigned char *p = map_copy("with blank", &fd);
  m = look(p);
  CHECK(ends_with(m.file, "/with blank"));
  CHECK_STR(m.build_id, self.build_id);
  unlink("with blank");
  m = look(p);
  CHECK(ends_with(m.file, "/with blank"));

  // Pages beyond the end of a truncated file raise SIGBUS when they are read.
  CHECK_EQ(munmap(p, SIZE), 0);
  p = map_copy("cut", &fd);
  CHECK_EQ(ftruncate(fd, 0), 0);
  m = look(p);
  CHECK_STR(m.build_id, "");
  CHECK_EQ(munmap(p, SIZE), 0);

  p = map_copy("corrupt", &fd);
  unsigned char good[1024];
  memcpy(good, p, sizeof(good));
  unsigned x = 1;
  for (int i = 0; i < 3000; i++) {
    memcpy(p, good, sizeof(good));
    for (int k = 0; k < 4; k++) {
      x = x * 1103515245 + 12345;
      p[x >> 16 & (i % 2 ? 127 : 1023)] = (unsigned char)(x >> 8);
    }
    if (i % 100 == 0)
      look(p);
    else
      (void)look(p).build_id;
  }
  CHECK_EQ(munmap(p, SIZE), 0);

  char dir[101];
  memset(dir, 'd', 100);
  dir[100] = '\0';
  for (int i = 0; i < 3; i++)
    CHECK(mkdir(dir, 0700) == 0 && chdir(dir) == 0);
  p = map_copy("long", &fd);
  m = look(p);
  CHECK_EQ(strlen(m.file), sizeof(m.file) - 1);
  CHECK(strncmp(m.file, "...dd", 3) == 0 && ends_with(m.file, "d/long"));

  p = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
           0);
  char jit[32];
  snprintf(jit, sizeof(jit), "[JIT %d]", getpid());
  CHECK_STR(look(p).file, jit);
  return 0;
}
