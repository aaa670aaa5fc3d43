// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: code in a file of the program's own format, such as the image of a
// Lisp system, has no names, and no message says that the file is damaged. The
// frames beyond it have their names.
//
// REQUIRES: x86_64
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -g -I%S/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app 2> err
// RUN: %mprof traces x.*.heap.pb.gz 2>> err | FileCheck %s
// RUN: not grep image err
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *image\+0x45$}}
// CHECK-NEXT: outer jit.h

#include "jit.h"

#include <fcntl.h>

int main(void) {
  static char page[4096];
  memcpy(page, "core", 4);
  memcpy(page + 64, with_frame_pointer, MADE_BYTES);
  const int fd = open("image", O_RDWR | O_CREAT, 0600);
  if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
    return 1;
  const unsigned char *image =
      mmap(NULL, sizeof(page), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  outer((made *)(image + 64));
  return 0;
}
