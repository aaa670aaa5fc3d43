// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that allocate nothing themselves, and whose names have another
// order than their values.

#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline)) static void allocate(void) { kept = malloc(1000); }

__attribute__((noinline)) static void zz_most(void) {
  allocate();
  allocate();
  kept = NULL;
}

__attribute__((noinline)) static void aa_least(void) {
  allocate();
  kept = NULL;
}

int main(void) {
  zz_most();
  aa_least();
  return 0;
}
