// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See real.h.

#include "real.h"

#include <dlfcn.h>
#include <errno.h>

// Not in static programs, which open nothing.
#pragma weak dladdr
#pragma weak dlsym
#pragma weak dlclose

// Of dlopen even a weak reference makes gold warn in static programs, so it is
// looked for.
typedef void *open_fn(const char *file, int mode);

MPROF_NOINLINE void *mprof_find_real(const char *symbol, _Atomic(void *) *found,
                                     void *caller) {
  void *f = atomic_load_explicit(found, memory_order_acquire);
  if (f || !dladdr || !dlsym || !dlclose)
    return f;
  const int before = errno;
  open_fn *open_library = (open_fn *)dlsym(RTLD_DEFAULT, "dlopen");
  Dl_info library;
  // Its own scope, since it may have been opened with RTLD_LOCAL.
  void *handle = open_library && dladdr(caller, &library)
                     ? open_library(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                     : NULL;
  if (handle) {
    f = dlsym(handle, symbol);
    dlclose(handle);
  }
  atomic_store_explicit(found, f, memory_order_release);
  errno = before;
  return f;
}
