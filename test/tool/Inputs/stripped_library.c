// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library whose allocating function has no symbol once the library is
// stripped. With PROGRAM: a program that calls the library.

#include <stdlib.h>

void library_fill(void);

#ifdef PROGRAM
int main(void) { library_fill(); }
#else
void *volatile library_kept[2];

static __attribute__((noinline)) void fill(int i) {
  library_kept[i] = malloc(100);
}

void library_fill(void) {
  fill(0);
  fill(1);
}
#endif
