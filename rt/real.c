// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See real.h.

#include "real.h"

#include <dlfcn.h>
#include <errno.h>

// Not in static programs, which open nothing.
#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlclose

MPROF_NOINLINE void *mprof_find_real(const char *symbol, _Atomic(void *) *found,
                                     void *caller) {
  void *f = atomic_load_explicit(found, memory_order_acquire);
  if (f || !dlopen || !dladdr || !dlsym || !dlclose)
    return f;
  const int before = errno;
  Dl_info library;
  // Its own scope, since it may have been opened with RTLD_LOCAL.
  void *handle = dladdr(caller, &library)
                     ? dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                     : NULL;
  if (handle) {
    f = dlsym(handle, symbol);
    dlclose(handle);
  }
  atomic_store_explicit(found, f, memory_order_release);
  errno = before;
  return f;
}
