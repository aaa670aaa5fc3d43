// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: functions that were made at run time have their names, files and
// lines from jit-PID.dump in the current directory. A function that was moved
// keeps its name, and a later function at the same address replaces an earlier
// one. A record that is not complete ends the dump.
//
// REQUIRES: x86_64
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -g1 -fomit-frame-pointer -fno-builtin -I%S/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: %mprof traces x.*.heap.pb.gz | FileCheck %s
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}placed b.cc:22{{$}}
// CHECK-NEXT: outer jit.h
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}moved{{$}}
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}new{{$}}
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *\[JIT\]}}

#include "jit.h"

#include <stdint.h>

static FILE *dump;

static void put(const void *bytes, size_t size) {
  fwrite(bytes, 1, size, dump);
}

static void put_head(uint32_t kind, size_t size) {
  const uint32_t head[4] = {kind, (uint32_t)(16 + size), 0, 0};
  put(head, sizeof(head));
}

static void put_load(made *at, uint64_t number, const char *name) {
  const uint64_t load[] = {0, (uintptr_t)at, (uintptr_t)at, MADE_BYTES, number};
  put_head(0, sizeof(load) + strlen(name) + 1 + MADE_BYTES);
  put(load, sizeof(load));
  put(name, strlen(name) + 1);
  put(with_frame_pointer, MADE_BYTES);
}

static void put_move(made *at, uint64_t number) {
  const uint64_t move[] = {
      0,          (uintptr_t)at, (uintptr_t)at - 4096, (uintptr_t)at,
      MADE_BYTES, number};
  put_head(1, sizeof(move));
  put(move, sizeof(move));
}

// Three lines of two files. The second one is that of the call.
static void put_lines(made *at) {
  static const char *const files[] = {"/x/a.cc", "/x/b.cc", "\xff"};
  const uint64_t head[] = {(uintptr_t)at, 3};
  size_t size = sizeof(head);
  for (int i = 0; i < 3; i++)
    size += 16 + strlen(files[i]) + 1;
  put_head(2, size);
  put(head, sizeof(head));
  for (unsigned i = 0; i < 3; i++) {
    const uint64_t address = (uintptr_t)at + (i == 0 ? 0 : i == 1 ? 4 : 6);
    const uint32_t line[] = {11 * (i + 1), 0};
    put(&address, sizeof(address));
    put(line, sizeof(line));
    put(files[i], strlen(files[i]) + 1);
  }
}

int main(void) {
  char path[64];
  made *f[4];
  for (int i = 0; i < 4; i++)
    f[i] = make(with_frame_pointer);
  for (int i = 0; i < 4; i++)
    for (int n = 4; n > i; n--) // so that the stacks have an order
      outer(f[i]);
  snprintf(path, sizeof(path), "jit-%d.dump", getpid());
  dump = fopen(path, "w");
  const uint32_t head[10] = {0x4A695444, 1, sizeof(head)};
  put(head, sizeof(head));
  put_lines(f[0]);
  put_load(f[0], 1, "placed");
  put_load((made *)((uintptr_t)f[1] - 4096), 2, "moved");
  put_move(f[1], 2);
  put_load(f[2], 3, "old");
  put_load(f[2], 4, "new");
  put_load(f[3], 5, "incomplete");
  fclose(dump);
  // The name is not complete.
  FILE *in = fopen(path, "r+");
  fseek(in, 0, SEEK_END);
  const long size = ftell(in) - MADE_BYTES - 4;
  fclose(in);
  return truncate(path, size);
}
