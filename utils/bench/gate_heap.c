// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked into the programs of gate.py. Moves the start of the heap to a
// multiple of a megabyte before the first malloc. Otherwise the heap would
// start where the program's data ends, and each change of the runtime's size
// would move the blocks. Then libc's string functions would find other blocks
// that cross the end of a page, and MProf would align other blocks to a page.

#include <stdint.h>
#include <unistd.h>

enum { MEGABYTE = 1 << 20 };

static void align_heap(void) {
  uintptr_t at = (uintptr_t)sbrk(0);
  sbrk((intptr_t)(MEGABYTE - at % MEGABYTE));
}

// Functions in this section run before all constructors.
__attribute__((section(".preinit_array"),
               used)) static void (*const before_all)(void) = align_heap;
