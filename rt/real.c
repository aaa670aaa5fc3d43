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

// The library that a function was found for is linked with the one that has it,
// and was compiled with MProf, so its last destructor says when it goes.
enum { NEVER, BUSY, FOUND_FIRST };
static _Atomic uint64_t unloads;

void mprof_real_forget(void) { atomic_fetch_add(&unloads, 1); }
uint64_t mprof_real_unloads(void) { return atomic_load(&unloads); }

static void *look_up(const char *symbol, void *caller) {
  if (!dladdr || !dlsym || !dlclose)
    return NULL;
  const int before = errno;
  void *f = NULL;
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
  errno = before;
  return f;
}

// Only one thread writes at a time, and none that began before what is there
// was found; the others use what they have found themselves. So a function
// that is read under the number of unloads of now is of now, or is newer.
static void keep(struct mprof_found *found, uint64_t seen, uint64_t now,
                 void *f) {
  if (seen == BUSY ||
      !atomic_compare_exchange_strong(&found->when, &seen, BUSY))
    return;
  atomic_store_explicit(&found->function, f, memory_order_release);
  atomic_store_explicit(&found->when, now, memory_order_release);
}

MPROF_NOINLINE void *mprof_find_real(const char *symbol,
                                     struct mprof_found *found, void *caller) {
  const uint64_t now = atomic_load(&unloads) + FOUND_FIRST;
  const uint64_t seen =
      atomic_load_explicit(&found->when, memory_order_acquire);
  if (mprof_likely(seen == now))
    return atomic_load_explicit(&found->function, memory_order_acquire);
  void *f = look_up(symbol, caller);
  if (f)
    keep(found, seen, now, f);
  return f;
}
