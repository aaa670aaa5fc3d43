// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library of http-unloads.test, which leaks a block for each load.

#include <stdlib.h>

void keep(void) {
  void *volatile block = malloc(5000);
  (void)block;
}
