// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates blocks of many sizes. The argument is a factor for their number: 1,
// 1.05 and 1.1 make whole numbers of blocks.

#include <stdio.h>
#include <stdlib.h>

static void *volatile sink;

#define STAGE(Name, Size)                                                      \
  __attribute__((noinline)) static void Name(double bytes) {                   \
    for (long n = (long)(bytes / (Size) + 0.5); n > 0; n--) {                  \
      sink = malloc(Size);                                                     \
      free(sink);                                                              \
    }                                                                          \
  }
STAGE(parse, 48)
STAGE(store, 400)
STAGE(copy, 3000)
STAGE(draw, 20000)
STAGE(load, 150000)

int main(int argc, char **argv) {
  const double megabytes = (argc > 1 ? atof(argv[1]) : 1) * 1e6;
  parse(12 * megabytes);
  store(40 * megabytes);
  copy(36 * megabytes);
  draw(20 * megabytes);
  load(15 * megabytes);
  return 0;
}
