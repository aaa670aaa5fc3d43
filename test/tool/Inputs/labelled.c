// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates with and without labels. With FREE, frees all blocks.

#include <mprof/mprof.h>
#include <stdlib.h>

static void *volatile kept[7];
static int count;

static void allocate(void) { kept[count++] = malloc(1000); }

int main(void) {
  allocate();
  for (int i = 0; i < 2; i++) {
    MPROF_LABELS("customer", "acme", "phase", "load");
    allocate();
  }
  for (int i = 0; i < 4; i++) {
    MPROF_LABELS("customer", "zenith");
    allocate();
  }
#ifdef FREE
  for (int i = 0; i < count; i++)
    free(kept[i]);
#endif
  return 0;
}
