// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modules of the process, that is, the program and its shared libraries, in
// the loader's list. Access to this list takes the loader's lock. maps.h reads
// the modules from the kernel instead, without that lock.

#ifndef MPROF_RT_PROCESS_MODULES_H
#define MPROF_RT_PROCESS_MODULES_H

#include "sys/base.h"

#include <string.h>

// The module that contains an address.
struct mprof_module {
  uintptr_t id;         // 0: no module contains the address
  uintptr_t start, end; // the segment that contains the address
  char name[64];        // base name of the file; "": the program itself
};
// Returns the module that contains an address. Takes the loader's lock, so call
// this function only at start.
struct mprof_module mprof_module_of(void *address);
// Returns whether the module is libstdc++ or libc++. Their operators new and
// delete behave as all libraries expect.
static inline bool mprof_module_is_cxx_library(const struct mprof_module *m) {
  static const char *const names[] = {"libstdc++.so", "libc++.so",
                                      "libc++abi.so"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strncmp(m->name, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}
// The numbers of modules that the loader has loaded (adds) and unloaded (subs).
struct mprof_loads {
  unsigned long long adds, subs;
};
// Returns these numbers since the start of the process. Takes the loader's
// lock, so call this function only where the loader is called anyway.
struct mprof_loads mprof_module_loads(void);

#endif // MPROF_RT_PROCESS_MODULES_H
