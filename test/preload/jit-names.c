// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: functions that were made at run time have their names, files and
// lines from /tmp/perf-PID.map, in which a later line replaces earlier ones.
// The names are in the profile and in the report. A map is not used, and one
// line says why, if it is a link, no regular file, older than the process, or
// no map.
//
// REQUIRES: x86_64
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -g1 -fomit-frame-pointer -fno-builtin -I%S/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app map > pid
// RUN: mv /tmp/perf-$(cat pid).map used.map
// RUN: %mprof traces x.*.heap.pb.gz | FileCheck %s
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}work app.js:12{{$}}
// CHECK-NEXT: outer jit.h
// CHECK-NEXT: main jit-names.c
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}Bar.run app.py{{$}}
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}com.foo.Bar.run{{$}}
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}com.foo.Bar.print{{$}}
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}Builtin:ArrayMap{{$}}
// RUN: grep 'in work /a b/app.js:12' x.*.txt
//
// RUN: why() { %run{heap_rate=1:log_path=why} LD_PRELOAD=%preload ./app $1 \
// RUN:   > pid 2> err; rm -f /tmp/perf-$(cat pid).map; grep "$2" err; \
// RUN:   not grep 'in work ' why.$(cat pid).txt; }
// RUN: why link 'map has no names .*: it is a symbolic link'
// RUN: why fifo 'map has no names .*: it is no regular file'
// RUN: why old 'map has no names .*: it is older than the process'
// RUN: why binary 'map has no names .*: it is no map of perf'
// RUN: why large 'map has no names .*: it has more than 256 MiB'
//
// mprof adds the names later if the map is not younger than the profile.
// RUN: later() { %run{heap_rate=1:log_path=y:symbolize=0} LD_PRELOAD=%preload \
// RUN:   ./app $1 > pid; %mprof traces y.$(cat pid).heap.pb.gz > later 2> err; \
// RUN:   rm -f /tmp/perf-$(cat pid).map; }
// RUN: later map && grep 'work  app.js:12' later
// RUN: later new && not grep 'work  app' later && \
// RUN:   grep 'it was changed after the profile was written' err

#include "jit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static char path[64];

// Writes lines for the five functions, which have MADE_BYTES each.
static void write_map(unsigned char *at) {
  FILE *f = fopen(path, "w");
  const size_t a = (size_t)at;
  fprintf(f, "%zx 1000 JS:~freed /a b/app.js:1:2\n", a);
  fprintf(f, "%zx %x JS:*work /a b/app.js:12:3\n", a, MADE_BYTES);
  fprintf(f, "0x%zx 0x%x py::Bar.run:/x/app.py\n", a + 16, MADE_BYTES);
  fprintf(f, "no line\n%zx\n%zx 10\n", a, a);
  fprintf(f, "%zx %x Lcom/foo/Bar;::run\n", a + 32, MADE_BYTES);
  fprintf(f, "%zx %x void com.foo.Bar.print(int[], long)\n", a + 48,
          MADE_BYTES);
  fprintf(f, "%zx %x Builtin:ArrayMap\n", a + 64, MADE_BYTES);
  fclose(f);
}

static void make_odd(const char *kind) {
  if (strcmp(kind, "link") == 0) {
    rename(path, "target.map");
    char *target = realpath("target.map", NULL);
    if (symlink(target, path) != 0)
      exit(1);
  } else if (strcmp(kind, "fifo") == 0) {
    remove(path);
    mkfifo(path, 0600);
  } else if (strcmp(kind, "old") == 0 || strcmp(kind, "new") == 0) {
    const time_t other = kind[0] == 'o' ? -1000 : 1000;
    const struct timespec times[2] = {{time(NULL) + other, 0},
                                      {time(NULL) + other, 0}};
    utimensat(AT_FDCWD, path, times, 0);
  } else if (strcmp(kind, "binary") == 0) {
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 100000; i++)
      fputc(i * 7 % 256, f);
    fclose(f);
  } else if (strcmp(kind, "large") == 0) {
    if (truncate(path, (1 << 28) + 1) != 0)
      exit(1);
  }
}

int main(int argc, char **argv) {
  made *f[5];
  if (argc != 2)
    return 1;
  for (int i = 0; i < 5; i++)
    f[i] = make(with_frame_pointer);
  for (int i = 0; i < 5; i++)
    for (int n = 5; n > i; n--) // so that the stacks have an order
      outer(f[i]);
  snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
  write_map((unsigned char *)f[0]);
  make_odd(argv[1]);
  printf("%d\n", getpid());
  unsigned char *page = (unsigned char *)((size_t)code & -(size_t)4096);
  return munmap(page, 4096);
}
