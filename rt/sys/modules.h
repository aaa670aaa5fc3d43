// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modules (program and libraries) of the process, as the loader knows them.

#ifndef MPROF_RT_SYS_MODULES_H
#define MPROF_RT_SYS_MODULES_H

#include "sys/base.h"

#include <string.h>

// A module of the process, as far as one address in it tells.
struct mprof_module {
  uintptr_t id;         // 0 if no module holds the address
  uintptr_t start, end; // of the segment that does
  char name[64];        // its file's base name, "" for the program itself
};
// Takes the loader's lock, so only at start.
struct mprof_module mprof_module_of(void *address);
// Whether it is libstdc++ or libc++, with the operators that all expect.
static inline bool mprof_module_is_cxx_library(const struct mprof_module *m) {
  static const char *const names[] = {"libstdc++.so", "libc++.so",
                                      "libc++abi.so"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strncmp(m->name, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}
// How often the loader has loaded and unloaded something.
struct mprof_loads {
  unsigned long long adds, subs;
};
// Takes the loader's lock, so only where the loader is called anyway.
struct mprof_loads mprof_module_loads(void);

#endif // MPROF_RT_SYS_MODULES_H
