// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: MProf places counted blocks on page boundaries, and each free on a
// page boundary calls the runtime. A loop that frees a counted block and
// allocates again does not get the block on the page boundary back.
//
// UNSUPPORTED: unit-address, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "seed=3"
#include "core.h"

#include "sys/abi_words.h"

void *__mprof_malloc(size_t size);
void __mprof_free(void *ptr);

int main(void) {
  int asked = 0, counted = 0;
  void *volatile p;
  for (int i = 0; i < 200000; i++) {
    if (site_asks(64)) {
      p = __mprof_malloc(64);
      counted += ((uintptr_t)p & __mprof_free_mask) == 0;
    } else {
      p = malloc(64);
    }
    memset(p, i, 64);
    if (((uintptr_t)p & __mprof_free_mask) == 0) {
      asked++;
      __mprof_free(p);
    } else {
      free(p);
    }
  }
  // 200000 * 64 / 512 KiB = 24 samples are expected.
  CHECK(counted >= 5);
  CHECK(asked <= counted + 1);
  return 0;
}
