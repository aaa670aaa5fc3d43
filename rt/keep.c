// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small blocks on page boundaries, kept for the next samples. An allocator
// hands the block that was freed last out first. If a counted block went back
// to it, the hot loop that freed it would get it again, now uncounted but
// still on its page boundary, and from then on pay a call of the runtime for
// each free. So such blocks stay here, also those that are on a boundary by
// chance, until a sample of their size needs one. At most SLOTS of each of
// CLASSES sizes: 256 KiB in all; what does not fit is freed.

#include "init.h"

#include <malloc.h>
#include <stdlib.h>

#pragma weak malloc_usable_size

#define CLASS_BYTES 16u
#define CLASSES 65u // usable sizes up to 1039 bytes: what glibc's tcache holds
#define SLOTS 8u

// A slot changes hands by an atomic exchange, so there is no lock.
static _Atomic(void *) kept[CLASSES][SLOTS];

bool mprof_keep_put(void *p) {
  if (((uintptr_t)p & (MPROF_PAGE - 1)) != 0 || !p || !mprof_place_c())
    return false;
  size_t at = malloc_usable_size(p) / CLASS_BYTES;
  for (unsigned i = 0; at < CLASSES && i < SLOTS; i++) {
    void *empty = NULL;
    if (atomic_load_explicit(&kept[at][i], memory_order_relaxed) == NULL &&
        atomic_compare_exchange_strong(&kept[at][i], &empty, p))
      return true;
  }
  return false;
}

static void *take_from(size_t at, size_t size) {
  for (unsigned i = 0; at < CLASSES && i < SLOTS; i++) {
    if (atomic_load_explicit(&kept[at][i], memory_order_relaxed) == NULL)
      continue;
    void *p = atomic_exchange(&kept[at][i], NULL);
    if (!p || malloc_usable_size(p) >= size)
      return p;
    // Too small by less than a class; its place may be taken by now.
    if (!mprof_keep_put(p))
      free(p);
  }
  return NULL;
}

void *mprof_keep_take(size_t size) {
  size_t at = size / CLASS_BYTES;
  void *p = take_from(at, size);
  return p ? p : take_from(at + 1, size);
}
