// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The switches of the program, as the runtime sees them.

#ifndef MPROF_TEST_SWITCHES_H
#define MPROF_TEST_SWITCHES_H

#include "check.h"

#include <stdint.h>

// The runtime's struct __mprof_switch, and the array of the program.
struct call {
  void *target, *function, *entry;
  uint32_t kind, is_on;
};
extern struct call begin[] __asm__("__start_mprof_switches")
    __attribute__((visibility("hidden")));
extern struct call end[] __asm__("__stop_mprof_switches")
    __attribute__((visibility("hidden")));

// Returns the switch that leads to an entry of the runtime.
static volatile struct call *find(const void *entry) {
  for (struct call *c = begin; c != end; c++)
    if (c->entry == entry)
      return c;
  CHECK(!"the function has a switch");
  return NULL;
}

#endif // MPROF_TEST_SWITCHES_H
